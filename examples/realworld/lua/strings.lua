-- Build strings piece by piece, take them apart again, keep an index of the words.
local lines = tonumber(arg[1])

local words = { "ship", "harbour", "lantern", "anchor", "compass", "sail", "rope", "tide" }
local buffer, seen = {}, {}
local state = 42

local function below(limit)
  state = (state * 16807) % 2147483647
  return state % limit
end

for i = 1, lines do
  local line = string.format("%d %s %s-%d", i, words[below(#words) + 1], words[below(#words) + 1], below(5000))
  buffer[#buffer + 1] = line
  for word in line:gmatch("%a+%-%d+") do
    seen[word] = (seen[word] or 0) + 1
  end
end

local text = table.concat(buffer, "\n")
local distinct, most = 0, ""
for word, times in pairs(seen) do
  distinct = distinct + 1
  if times > (seen[most] or 0) or (times == seen[most] and word < most) then most = word end
end
print(#text, distinct, most, seen[most])
print(select(2, text:gsub("anchor", "%0")), text:upper():find("TIDE", 1, true))
