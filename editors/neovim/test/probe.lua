-- Drives a headless Neovim through what the README promises, with the README's own snippet.
-- The working folder is a copy of the shipped case. README: the README's path.

local passed, failed = 0, 0

local function test(name, body)
  local ok, err = xpcall(body, debug.traceback)
  print((ok and "ok    " or "FAIL  ") .. name .. (ok and "" or "\n      " .. err:gsub("\n", "\n      ")))
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
end

-- Waits until look() is true-ish, and returns that.
local function wait(what, look)
  local found
  assert(vim.wait(10000, function()
    found = look()
    return found
  end, 20), "in time: " .. what)
  return found
end

local function text_of(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

local snippet = io.open(os.getenv("README")):read("a"):match("```lua\n(.-)```")
assert(load(snippet, "@README.md"))()

-- The line number of rank 17's statement.
local function statement(lines)
  for number, line in ipairs(lines) do
    if line:match("rank17%]:.*OutOfMemoryError: CUDA out of memory") then
      return number
    end
  end
end

-- Runs :Graphtrap on lines and returns the answer's text.
local function diagnose(range)
  local before = #vim.api.nvim_list_wins()
  vim.cmd(range .. "Graphtrap")
  wait("an answer", function()
    return #vim.api.nvim_list_wins() > before
  end)
  local answer = text_of(0)
  assert(vim.bo.buftype == "nofile" and not vim.bo.modifiable)
  vim.cmd.close()
  return answer
end

local printed = vim.fn.readfile("train.log")
local traceback = vim.list_slice(printed, statement(printed) - 12, statement(printed) + 20)

test("diagnoses a traceback pasted into a buffer without a name", function()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, traceback)
  local answer = diagnose("")
  assert(answer:match("[Rr]ank 17"), answer)
  vim.bo.modified = false
end)

vim.o.hidden = true
vim.cmd.edit("train.log")
local log = vim.api.nvim_get_current_buf()
local window = vim.api.nvim_get_current_win()
local initiating = statement(vim.api.nvim_buf_get_lines(log, 0, -1, false))

local function at_initiating_line()
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_set_current_buf(log)
  vim.api.nvim_win_set_cursor(window, { initiating, 12 })
end

test("puts one error on the initiating line", function()
  local errors = wait("an error", function()
    local found = vim.diagnostic.get(log, { severity = vim.diagnostic.severity.ERROR })
    return #found > 0 and found
  end)
  assert(#errors == 1, #errors .. " errors")
  assert(errors[1].lnum + 1 == initiating, ("on line %d, not %d"):format(errors[1].lnum + 1, initiating))
  assert(errors[1].code == "cuda-graph-capture-oom", errors[1].code)
  assert(errors[1].message:match("rank 17"), errors[1].message)
end)

test("marks what is collateral", function()
  local hints = vim.diagnostic.get(log, { severity = vim.diagnostic.severity.HINT })
  assert(#hints > 0)
  for _, hint in ipairs(hints) do
    assert(hint._tags and hint._tags.unnecessary, hint.message)
  end
end)

test("explains the initiating line on hover", function()
  at_initiating_line()
  vim.lsp.buf.hover()
  local float = wait("a hover", function()
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= "" then
        return win
      end
    end
  end)
  local text = text_of(vim.api.nvim_win_get_buf(float))
  vim.api.nvim_win_close(float, true)
  assert(text:match("[Rr]ank 17") and text:match("pool"), text)
end)

test("copies the check command", function()
  at_initiating_line()
  vim.fn.setreg('"', "")
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return type(action.command) == "table" and action.command.command == "graphtrap.copyText"
    end,
  })
  wait("a text in the register", function()
    return vim.fn.getreg('"') ~= ""
  end)
end)

test("shares one graph pool in the source with one code action", function()
  -- What is typed and not yet written moves the edit with it.
  vim.cmd.edit("engine/graphs.py")
  local python = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(python, 0, 0, false, { "# typed" })
  at_initiating_line()
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return vim.startswith(action.title, "Share one graph pool")
    end,
  })
  local text = wait("a graph pool in the source", function()
    return text_of(python):match("graph_pool_handle") and text_of(python)
  end)
  assert(vim.startswith(text, "# typed\n"), text)
  assert(text:match("with torch%.cuda%.graph%(graph, pool=[%w_]+%):"), text)
  assert(select(2, text:gsub("graph_pool_handle", "")) == 1, text)
end)

test("diagnoses some lines of the log, with their numbers", function()
  at_initiating_line()
  local answer = diagnose(("%d,%d"):format(initiating - 12, initiating + 20))
  assert(answer:match("[Rr]ank 17"), answer)
  assert(answer:find(tostring(initiating), 1, true), answer)
end)

test("follows what is pasted into a new log", function()
  vim.cmd.edit("pasted.log")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, traceback)
  local error = wait("an error", function()
    return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })[1]
  end)
  assert(error.lnum + 1 == statement(traceback), ("on line %d"):format(error.lnum + 1))
end)

print(("%d passed, %d failed"):format(passed, failed))
vim.cmd(failed == 0 and passed > 0 and "qall!" or "cquit")
