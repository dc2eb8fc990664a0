-- What the tests share: they run in order, as one session of a user, and each says what it checks.

local M = {}

local passed, failed = 0, 0

--- Prints a line, beside Neovim's own messages.
function M.say(line)
  io.stdout:write("\n" .. line)
end

--- One check of the session. A failed one does not stop the others.
function M.test(name, body)
  local ok, err = xpcall(body, debug.traceback)
  M.say((ok and "ok    " or "FAIL  ") .. name .. (ok and "" or "\n      " .. tostring(err):gsub("\n", "\n      ")))
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
end

--- Waits until look() is true-ish, and returns that.
function M.wait(what, look)
  local found
  assert(vim.wait(60000, function()
    found = look()
    return found
  end, 20), "in time: " .. what)
  return found
end

function M.text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

function M.has(text, ...)
  for _, part in ipairs({ ... }) do
    assert(text:find(part, 1, true), ("no %q in:\n%s"):format(part, text))
  end
end

function M.equal(got, want)
  assert(vim.deep_equal(got, want), ("%s, not %s"):format(vim.inspect(got), vim.inspect(want)))
end

--- Runs :GraphTrap, waits for the page that it shows, closes that and returns its text.
function M.page(command)
  vim.cmd(command)
  M.wait("a page for " .. command, function()
    return vim.b.graphtrap_page
  end)
  local text = M.text(0)
  M.equal(vim.bo.modifiable, false)
  vim.cmd.close()
  return text
end

--- Waits for a message of the session that has a text.
function M.message(part)
  return M.wait("the message " .. part, function()
    local all = vim.fn.execute("messages")
    return all:find(part, 1, true) and all
  end)
end

--- The line, from 1, on which rank 17 states its failure.
function M.statement(lines)
  for number, line in ipairs(lines) do
    if line:match("rank17%]:.*OutOfMemoryError: CUDA out of memory") then
      return number
    end
  end
end

--- The extmarks of a buffer: those of |graphtrap.marks|.
function M.marks(buf)
  local space = vim.api.nvim_get_namespaces().graphtrap
  return space and vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true }) or {}
end

--- Runs a command that must fail with a message.
function M.refused(command, part)
  local ok, err = pcall(vim.cmd, command)
  if ok then
    M.message(part)
  else
    M.has(err, part)
  end
end

--- Ends the session: without errors in :messages.
function M.finish()
  M.test("there is no error in :messages", function()
    local all = vim.fn.execute("messages")
    assert(not all:find("E%d+:") and not all:find("Error") and not all:find("stack traceback"), all)
  end)
  M.say(("%d passed, %d failed\n"):format(passed, failed))
  vim.cmd(failed == 0 and passed > 0 and "qall!" or "cquit")
end

return M
