-- A user's own settings, right and wrong, and a machine without the server.

local check = require("check")
local test, wait, has, equal = check.test, check.wait, check.has, check.equal

local graphtrap, config = require("graphtrap"), require("graphtrap.config")

test("without the server a log opens, and one message says what to do", function()
  graphtrap.setup({ cmd = { "graphtrap-is-not-here" } })
  vim.cmd.edit("train.log")
  vim.cmd.edit("pasted.log")
  local all = check.message("`graphtrap-is-not-here` is not on the PATH: install it, or name it")
  equal(select(2, all:gsub("is not on the PATH", "")), 1)
  check.refused("GraphTrap", "is not on the PATH")
end)

test(":checkhealth says it, too", function()
  vim.cmd("checkhealth graphtrap")
  has(check.text(0), "ERROR `graphtrap-is-not-here` is not on the PATH", "the server is not running")
  vim.cmd("bwipeout!")
end)

test("wrong settings are named, and the right ones beside them hold", function()
  graphtrap.setup({ signs = "yes", colour = "red", sign_initiator = "!!" })
  check.message("colour is no setting; signs must be a boolean, and is a string")
  equal({ config.get().signs, config.get().sign_initiator }, { true, "!!" })
  vim.cmd("checkhealth graphtrap")
  has(check.text(0), "WARNING colour is no setting")
  vim.cmd("bwipeout!")
end)

test("a program by its path, other names of logs, other signs, and settings of the server", function()
  graphtrap.setup({
    cmd = { vim.fn.exepath("graphtrap"), "serve", "--stdio" },
    patterns = { "job-*.txt" },
    sign_initiator = "!",
    virtual_text = false,
    settings = { collateralSeverity = "none" },
  })
  vim.uv.fs_copyfile("train.log", "job-7.txt")
  vim.cmd.edit("job-7.txt")
  local marks = wait("marks", function()
    return #check.marks(0) > 0 and check.marks(0)
  end)
  equal({ #marks, vim.trim(marks[1][4].sign_text), marks[1][4].virt_lines }, { 1, "!", nil })
end)

local function stop()
  vim.lsp.stop_client(vim.lsp.get_clients({ name = "graphtrap" }), true)
  wait("the server's end", function()
    return #vim.lsp.get_clients({ name = "graphtrap", _uninitialized = true }) == 0
  end)
end

test("the settings that the README shows do what it says", function()
  stop()
  local shown = io.open(vim.env.README):read("a"):match("```lua\n(.-)```")
  local here = shown:gsub("/opt/graphtrap/bin/graphtrap", vim.fn.exepath("graphtrap"))
  assert(load(here, "@README.md"))()
  vim.uv.fs_copyfile("train.log", "slurm-7.txt")
  vim.cmd.edit("slurm-7.txt")
  wait("diagnostics", function()
    return #vim.diagnostic.get(0) > 0
  end)
  equal(#vim.diagnostic.get(0, { severity = vim.diagnostic.severity.INFO }), 63)
end)

test("all words, settings and highlights are in the help", function()
  vim.fn.mkdir("doc")
  vim.uv.fs_copyfile(vim.env.PLUGIN .. "/doc/graphtrap.txt", "doc/graphtrap.txt")
  vim.cmd("helptags doc")
  local tags, help = {}, table.concat(vim.fn.readfile("doc/graphtrap.txt"), "\n")
  for _, line in ipairs(vim.fn.readfile("doc/tags")) do
    tags[line:match("^[^\t]+")] = true
  end
  for _, word in ipairs(require("graphtrap.command").names()) do
    assert(tags[":GraphTrap-" .. word], "no help for " .. word)
  end
  for _, group in ipairs({ "GraphTrapInitiator", "GraphTrapSuspect", "GraphTrapCollateral" }) do
    assert(tags["hl-" .. group] and vim.fn.hlexists(group) == 1, group)
  end
  -- The table of the help is the defaults.
  local shown = help:match("setup%((%b{})%)")
  equal(assert(load("return " .. shown))(), config.defaults)
end)

test(":checkhealth is content", function()
  graphtrap.setup({})
  vim.cmd("checkhealth graphtrap")
  local text = check.text(0)
  check.say("      " .. text:gsub("\n+", "\n      "))
  has(text, "OK Neovim 0.", "OK all settings are known", "graphtrap: graphtrap version", "OK running for", "sources are looked for")
  assert(not text:find("ERROR") and not text:find("WARNING"), text)
  vim.cmd("bwipeout!")
end)

test("without autostart nothing is attached before it is asked for", function()
  stop()
  graphtrap.setup({ autostart = false })
  vim.cmd("edit! train.log")
  equal(#vim.lsp.get_clients({ _uninitialized = true }), 0)
  vim.cmd("GraphTrap")
  wait("an answer", function()
    return vim.b.graphtrap_page
  end)
  vim.cmd.close()
end)

test("a file over max_bytes is read from disk by the server", function()
  graphtrap.setup({ max_bytes = 1000 })
  vim.uv.fs_copyfile("train.log", "large.log")
  vim.cmd("edit large.log")
  equal(#vim.lsp.get_clients({ bufnr = 0, _uninitialized = true }), 0)
  has(check.page("GraphTrap"), "Rank 17 started it")
  equal({ vim.fn.getqflist()[1].bufnr, #vim.lsp.get_clients({ bufnr = 0 }) }, { vim.api.nvim_get_current_buf(), 0 })
end)

test("the entry for vim.lsp.enable is data, and starts the server", function()
  stop()
  local entry = dofile(vim.env.PLUGIN .. "/lsp/graphtrap.lua")
  equal(vim.json.decode(vim.json.encode(entry)), entry)
  vim.cmd("edit! train.log")
  vim.bo.filetype = "log"
  assert(vim.tbl_contains(entry.filetypes, vim.bo.filetype))
  local start = vim.tbl_extend("error", entry, { name = "from-the-entry", root_dir = vim.fs.root(0, entry.root_markers) })
  vim.lsp.start(start)
  wait("the error", function()
    return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 1
  end)
end)

check.finish()
