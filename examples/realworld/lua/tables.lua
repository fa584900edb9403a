-- Records in tables: fill, sort, group, update.
local records = tonumber(arg[1])

local state = 7
local function below(limit)
  state = (state * 16807) % 2147483647
  return state % limit
end

local all, by_town = {}, {}
for i = 1, records do
  local record = { id = i, town = "town" .. below(100), amount = below(100000), note = "note " .. i }
  all[i] = record
  by_town[record.town] = by_town[record.town] or {}
  table.insert(by_town[record.town], record)
end

table.sort(all, function(a, b)
  if a.amount ~= b.amount then return a.amount > b.amount end
  return a.id < b.id
end)
print(all[1].id, all[1].amount, all[#all].id)

local best, best_sum = "", -1
for town, list in pairs(by_town) do
  local sum = 0
  for _ = 1, 5 do
    for _, record in ipairs(list) do sum = sum + record.amount end
  end
  if sum > best_sum or (sum == best_sum and town < best) then best, best_sum = town, sum end
end
print(best, best_sum)
