-- :GraphTrap and its words.

local M = {}

---@class graphtrap.Word
---@field run fun(given: table, argument: string)
---@field complete? "file"|fun(): string[]

---@param answer graphtrap.Answer
---@param mods table?
local function show(answer, mods)
  require("graphtrap.page").show(answer.rendered, { title = "graphtrap", log = answer.buf, mods = mods })
end

---@type table<string, graphtrap.Word>
local words = {}

words.diagnose = {
  complete = "file",
  run = function(given, argument)
    local source = require("graphtrap.source")
    local what
    if argument == "quickfix" or argument == "loclist" then
      what = source.quickfix(argument == "loclist")
    elseif argument ~= "" then
      what = source.path(argument)
    elseif given.range > 0 then
      what = source.buffer(given.line1, given.line2)
    else
      what = source.buffer()
    end
    if not what then
      return
    end
    require("graphtrap.incident").diagnose(what, function(answer)
      require("graphtrap.lists").fill(answer)
      if not given.bang then
        show(answer, given.smods)
      end
    end)
  end,
}

words.report = {
  run = function(given)
    require("graphtrap.incident").here(function(answer)
      show(answer, given.smods)
    end)
  end,
}

words.initiator = {
  run = function()
    require("graphtrap.jump").initiator()
  end,
}

words.next = {
  run = function()
    require("graphtrap.jump").next()
  end,
}

--- The id of the failure or message that the cursor is on, if there is one.
---@return string?
local function id_at_cursor()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, diagnostic in ipairs(require("graphtrap.marks").list(vim.api.nvim_get_current_buf())) do
    if diagnostic.lnum == line and diagnostic.code then
      return tostring(diagnostic.code)
    end
  end
end

---@param id string
---@param mods table
local function explain(id, mods)
  require("graphtrap.client").execute("graphtrap.explain", { id = id }, nil, function(result)
    require("graphtrap.page").show(result.markdown, { title = id, log = require("graphtrap.incident").buffer(), mods = mods })
  end)
end

words.explain = {
  complete = function()
    local last = require("graphtrap.incident").last
    local ids = {}
    if last then
      for _, event in ipairs(last.report.events) do
        ids[event.message] = true
      end
      if last.report.verdict.signature then
        ids[last.report.verdict.signature] = true
      end
    end
    return vim.tbl_keys(ids)
  end,
  run = function(given, argument)
    local id = argument ~= "" and argument or id_at_cursor()
    if id then
      return explain(id, given.smods)
    end
    require("graphtrap.incident").here(function(answer)
      local signature = answer.report.verdict.signature
      if not signature then
        return vim.notify("graphtrap: " .. answer.report.verdict.title, vim.log.levels.WARN)
      end
      explain(signature, given.smods)
    end)
  end,
}

words.fix = {
  run = function()
    require("graphtrap.fix").apply()
  end,
}

words.verify = {
  run = function(given)
    require("graphtrap.verify").run(given.bang)
  end,
}

words.toggle = {
  run = function()
    local shown = require("graphtrap.marks").toggle(require("graphtrap.incident").buffer())
    vim.api.nvim_echo({ { "graphtrap: marks are " .. (shown and "shown" or "hidden") } }, false, {})
  end,
}

words.cancel = {
  run = function()
    if not require("graphtrap.client").cancel() then
      vim.notify("graphtrap: nothing is being diagnosed", vim.log.levels.WARN)
    end
  end,
}

words.info = {
  run = function(given)
    require("graphtrap.client").execute("graphtrap.debugInfo", nil, nil, function(result)
      local text = "```lua\n" .. vim.inspect(result) .. "\n```"
      require("graphtrap.page").show(text, { title = "graphtrap info", mods = given.smods })
    end)
  end,
}

---@param given table as a user command gets it
function M.run(given)
  local name = given.fargs[1] or "diagnose"
  local word = words[name]
  if not word then
    return vim.notify(("graphtrap: %s is none of %s"):format(name, table.concat(M.names(), ", ")), vim.log.levels.ERROR)
  end
  word.run(given, table.concat(given.fargs, " ", 2))
end

---@return string[]
function M.names()
  local names = vim.tbl_keys(words)
  table.sort(names)
  return names
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("GraphTrap!?%s+(%S+)%s")
  local found
  if not name then
    found = M.names()
  elseif words[name] and words[name].complete == "file" then
    return vim.fn.getcompletion(lead, "file")
  elseif words[name] and words[name].complete then
    found = words[name].complete()
    table.sort(found)
  end
  return vim.tbl_filter(function(one)
    return vim.startswith(one, lead)
  end, found or {})
end

return M
