" The quickfix list of the shipped log, by :make and by :cfile. What does not hold is written into the file $FAILED.

function Check()
  let list = getqflist()
  let first = list[0]
  call assert_equal('train.log', fnamemodify(bufname(first.bufnr), ':t'))
  call assert_equal([9157, 11, 'e'], [first.lnum, first.col, first.type])
  call assert_equal('Rank 17 started it: a CUDA graph capture ran out of memory', first.text)
  call assert_equal(63, len(filter(copy(list), {_, item -> item.text =~# '^rank \d\+: collateral: ' && item.valid})))
  let fix = list[-1]
  call assert_equal([0, 'n', 'fix: share one memory pool over the captures'], [fix.lnum, fix.type, fix.text])
  cfirst
  call assert_equal(9157, line('.'))
  call assert_match('OutOfMemoryError: CUDA out of memory', getline('.'))
endfunction

try
  compiler! graphtrap
  silent make train.log
  call Check()
  call setqflist([])
  enew
  silent cfile answer
  call Check()
catch
  call add(v:errors, v:throwpoint .. ' ' .. v:exception)
endtry
call writefile(v:errors, $FAILED)
qall!
