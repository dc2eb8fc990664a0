" :compiler! graphtrap | make train.log
" Works in Vim 8 and newer, and in Neovim.

if exists('current_compiler')
  finish
endif
let current_compiler = 'graphtrap'

CompilerSet makeprg=graphtrap\ diagnose\ --format\ errorformat
" A file's line, then what has no place in a file.
CompilerSet errorformat=%f:%l:%c:\ %t%*[a-z]:\ %m,graphtrap:\ %t%*[a-z]:\ %m
