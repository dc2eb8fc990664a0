-- How to check a fix: the command goes into a register, or into a terminal, where the user runs it.

local incident = require("graphtrap.incident")

local M = {}

--- Types a command into a new terminal. It is not run: it may hold words of the log.
---@param command string
local function type_in_terminal(command)
  if command:find("%c") then
    return vim.notify("graphtrap: the check has several lines and is not typed; it is in the register", vim.log.levels.WARN)
  end
  vim.cmd.split()
  vim.cmd.terminal()
  vim.api.nvim_chan_send(vim.bo.channel, command)
end

---@param in_terminal boolean
function M.run(in_terminal)
  incident.here(function(answer)
    local check = (answer.report.verdict.verify or {})[1]
    if not check then
      return vim.notify("graphtrap: this failure has no check", vim.log.levels.WARN)
    end
    M.copy(check.command)
    if in_terminal and check.language == "python" then
      vim.notify("graphtrap: this check belongs into the program, not into a terminal; it is in the register. " .. check.expect)
    elseif in_terminal then
      type_in_terminal(check.command)
    else
      local text = ("```\n%s\n```\n\n%s\n\nThe command is copied: `p` puts it."):format(check.command, check.expect)
      require("graphtrap.page").show(text, { title = "check", log = answer.buf })
    end
  end)
end

--- Puts a text where `p` finds it, and into the clipboard where there is one.
---@param text string
function M.copy(text)
  vim.fn.setreg('"', text)
  if vim.fn.has("clipboard") == 1 then
    vim.fn.setreg("+", text)
  end
end

return M
