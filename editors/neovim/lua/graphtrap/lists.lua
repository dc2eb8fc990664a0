-- The answer as a list: who started it, what shows that, who only fell with it. The location list of the log's window,
-- or the quickfix list for files that are not open.

local M = {}

---@param buf integer?
---@param kind string
---@param text string
---@param at table? a location of the report
---@return vim.quickfix.entry?
local function entry(buf, kind, text, at)
  if not at or at.line < 1 then
    return nil
  end
  local item = { lnum = at.line, col = at.column, type = kind, text = text }
  if buf then
    item.bufnr = buf
  else
    item.filename = at.file
  end
  return item
end

---@param who table an initiator or a victim of the report
---@param text string
---@return string
local function named(who, text)
  return who.rank and ("rank %d: %s"):format(who.rank, text) or text
end

--- The entries of an answer, in the order in which they are to be read.
---@param answer graphtrap.Answer
---@return vim.quickfix.entry[]
function M.entries(answer)
  local verdict, buf = answer.report.verdict, answer.buf
  local items = {}
  local add = function(kind, text, at)
    items[#items + 1] = entry(buf, kind, text, at)
  end
  local severity = verdict.status == "undetermined" and "W" or "E"
  local initiator = verdict.initiator
  if initiator then
    add(severity, verdict.title, initiator.stated_at or initiator.location)
  end
  for _, other in ipairs(verdict.co_initiators or {}) do
    add(severity, named(other, verdict.title), other.stated_at or other.location)
  end
  for _, evidence in ipairs(verdict.evidence or {}) do
    add("I", evidence.says, evidence.location)
  end
  for _, victim in ipairs(verdict.collateral or {}) do
    add("N", named(victim, victim.why), victim.location)
  end
  return items
end

--- Fills the list; opens and moves nothing.
---@param answer graphtrap.Answer
function M.fill(answer)
  local what = {
    title = "graphtrap: " .. answer.report.verdict.title,
    items = M.entries(answer),
    context = { graphtrap = true },
  }
  local window = answer.buf and vim.fn.bufwinid(answer.buf) or -1
  if window ~= -1 then
    vim.fn.setloclist(window, {}, " ", what)
  else
    vim.fn.setqflist({}, " ", what)
  end
end

return M
