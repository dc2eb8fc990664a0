-- What differs from Neovim 0.11 on, which the tests do not have: methods are called with a colon, and a server is started
-- without a buffer. A stand-in for Neovim shows that these calls are made as that version wants them.

local check = require("check")
local test, equal = check.test, check.equal

local has = vim.fn.has
vim.fn.has = function(feature)
  return feature == "nvim-0.11" and 1 or has(feature)
end

local calls = {}
local client = { id = 7, name = "graphtrap", initialized = true, workspace_folders = {} }
for _, method in ipairs({ "request", "notify", "cancel_request" }) do
  client[method] = function(self, ...)
    equal(self, client)
    table.insert(calls, { method, ... })
    return true, 42
  end
end
client.is_stopped = function(self)
  equal(self, client)
  return false
end
local running = {}
vim.lsp.get_clients = function()
  return running
end
vim.lsp.get_client_by_id = function()
  return client
end
vim.lsp.start = function(config, options)
  equal({ config.name, config.cmd, options }, { "graphtrap", { "graphtrap", "serve", "--stdio" }, { attach = false } })
  running = { client }
  return client.id
end

local ours = require("graphtrap.client")

test("the server is started without a buffer, and asked", function()
  local answer
  ours.execute("graphtrap.explain", { id = "torch-oom" }, nil, function(result)
    answer = result
  end)
  local call = calls[1]
  equal({ call[1], call[2], call[3].command }, { "request", "workspace/executeCommand", "graphtrap.explain" })
  call[4](nil, "the answer")
  equal(answer, "the answer")
end)

test("a request is cancelled", function()
  ours.execute("graphtrap.explain", { id = "torch-oom" }, nil, function() end)
  equal(ours.cancel(), true)
  equal(calls[3], { "cancel_request", 42 })
end)

test("a folder is added", function()
  ours.start(nil, "/elsewhere")
  equal({ calls[4][1], calls[4][2] }, { "notify", "workspace/didChangeWorkspaceFolders" })
end)

check.finish()
