;;; session.el --- What a user does with the shipped log -*- lexical-binding: t; -*-

;; Run in batch, in a copy of the case.  Batch runs no idle timers and no hooks
;; after commands, so what Eglot leaves to those is called here.

(defvar session-failed 0)

(defmacro session-test (name &rest body)
  "Check NAME: BODY must not fail, and not be nil."
  (declare (indent 1))
  `(condition-case err
       (progn (or (progn ,@body) (error "it does not hold")) (message "ok    %s" ,name))
     (error (setq session-failed (1+ session-failed)) (message "FAIL  %s\n      %S" ,name err))))

(defun session-wait (what look)
  "Wait until LOOK returns something, and return that; else fail with WHAT."
  (let (found (until (+ (float-time) 60)))
    (while (not (or (setq found (funcall look)) (> (float-time) until)))
      (accept-process-output nil 0.05))
    (or found (error "In time: %s" what))))

(defun session-action (title)
  "Execute the code action whose title begins with TITLE."
  (let ((action (seq-find (lambda (a) (string-prefix-p title (plist-get a :title)))
                          (eglot-code-actions (line-beginning-position) (line-end-position)))))
    (eglot-execute (eglot-current-server) (or action (error "There is no action %s" title)))))

(load (locate-user-emacs-file "init.el"))
(setq eglot-strict-mode '(disallow-non-standard-keys enforce-required-keys check-types no-unknown-interfaces)
      eglot-confirm-server-edits nil
      compilation-ask-about-save nil
      eglot-sync-connect 60)

(find-file "train.log")
(defvar session-log (current-buffer))

(session-test "a log is opened in its mode, and Eglot has the server for it"
  (and (eq major-mode 'graphtrap-log-mode)
       (progn (apply #'eglot--connect (eglot--guess-contact)) (eglot-current-server))
       (equal (plist-get (eglot--server-info (eglot-current-server)) :name) "graphtrap")))

(session-test "the initiating line has the one error"
  (flymake-start)
  (session-wait "diagnostics" #'flymake-diagnostics)
  (let ((errors (seq-filter (lambda (d) (eq (flymake-diagnostic-type d) 'eglot-error)) (flymake-diagnostics))))
    (goto-char (flymake-diagnostic-beg (car errors)))
    (and (= (length errors) 1)
         (= (line-number-at-pos) 9157)
         (string-search "rank 17 started it" (flymake-diagnostic-text (car errors))))))

(session-test "what only fell with it is a faded note"
  (let ((notes (seq-filter (lambda (d) (eq (flymake-diagnostic-type d) 'eglot-note)) (flymake-diagnostics))))
    (and (= (length notes) 63)
         (string-search "collateral of rank 17" (flymake-diagnostic-text (car notes))))))

(session-test "the hover answers"
  (set-window-buffer (selected-window) session-log)
  (let (said)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq said text)))
    (session-wait "a hover" (lambda () said))
    (and (string-search "Rank 17 started it" said) (string-search "idle in graph pools" said))))

(session-test "an action copies the check"
  (session-action "Copy the check command")
  (string-search "memory_snapshot" (current-kill 0)))

(session-test "a command of the server is executed"
  (let* ((argument (list :uri (plist-get (eglot--TextDocumentIdentifier) :uri) :format "text"))
         (answer (eglot-execute (eglot-current-server)
                                (list :command "graphtrap.diagnose" :arguments (vector argument)))))
    (string-search "Rank 17 started it" (plist-get answer :rendered))))

(session-test "an action shares one graph pool in the source"
  (session-action "Share one graph pool")
  (with-current-buffer (find-file-noselect "engine/graphs.py")
    (and (string-search "with torch.cuda.graph(graph, pool=pool):" (buffer-string))
         (string-search "pool = torch.cuda.graph_pool_handle()" (buffer-string)))))

(session-test "graphtrap-diagnose asks about the text of any buffer, or a region"
  (with-temp-buffer
    (insert-buffer-substring session-log)
    (graphtrap-diagnose (point-min) (point-max))
    (with-current-buffer "*graphtrap*"
      (and (string-prefix-p "Rank 17 started it" (buffer-string)) buffer-read-only))))

(session-test "graphtrap-diagnose-path is a compilation whose errors are the lines of the log"
  (graphtrap-diagnose-path "train.log")
  (let ((compilation (get-buffer "*compilation*")))
    (session-wait "its end" (lambda () (not (get-buffer-process compilation))))
    (with-current-buffer compilation (goto-char (point-min)))
    (next-error 1 t)
    (and (equal (current-buffer) session-log) (= (line-number-at-pos) 9157))))

(session-test "the server ends when it is told"
  (with-current-buffer session-log
    (eglot-shutdown (eglot-current-server))
    t))

(message "%s" (if (zerop session-failed) "all passed" (format "%d failed" session-failed)))
(kill-emacs (min session-failed 1))
