-- Many short-lived trees beside one that stays: work for the allocator and the garbage collector.
local depth_max = tonumber(arg[1])

local function build(depth)
  if depth == 0 then return {} end
  return { left = build(depth - 1), right = build(depth - 1) }
end

local function count(tree)
  if not tree.left then return 1 end
  return 1 + count(tree.left) + count(tree.right)
end

local kept = build(depth_max)
for depth = 4, depth_max, 4 do
  local trees = 1 << (depth_max - depth + 4)
  local nodes = 0
  for _ = 1, trees do
    nodes = nodes + count(build(depth))
  end
  print(trees, depth, nodes)
end
print("kept", count(kept))
