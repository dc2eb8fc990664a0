;;; graphtrap.el --- Who started the failure of a distributed job -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "30.1"))
;; URL: https://github.com/graphtrap/graphtrap
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Logs are opened in `graphtrap-log-mode', in which Eglot talks to the program
;; `graphtrap': the line that started the failure is an error, what only fell
;; with it is faded.  `graphtrap-diagnose' asks about the text of any buffer,
;; such as a shell's or a compilation's.  Nothing leaves the machine.

;;; Code:

(require 'eglot)

(defgroup graphtrap nil
  "Who started the failure of a distributed job."
  :group 'tools)

(defcustom graphtrap-program "graphtrap"
  "The program, by its name on the path or by its whole path."
  :type 'file)

(defclass graphtrap-server (eglot-lsp-server) ()
  :documentation "The language server of graphtrap.")

(cl-defmethod eglot-execute :around ((_server graphtrap-server) action)
  "Copy the text that ACTION is about, where the server leaves that to the editor."
  (let ((command (if (stringp (plist-get action :command)) action (plist-get action :command))))
    (if (equal (plist-get command :command) "graphtrap.copyText")
        (let ((text (aref (plist-get command :arguments) 0)))
          (kill-new text)
          (message "Copied: %s" text))
      (cl-call-next-method))))

;;;###autoload
(define-derived-mode graphtrap-log-mode text-mode "Log"
  "A log of a job, read by graphtrap."
  (setq-local truncate-lines nil)
  (eglot-ensure))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(?:log\\|out\\|err\\)\\'" . graphtrap-log-mode))

(add-to-list 'eglot-server-programs
             `((graphtrap-log-mode :language-id "log")
               . ,(lambda (&rest _) (list 'graphtrap-server graphtrap-program "serve" "--stdio"))))

;;;###autoload
(defun graphtrap-diagnose (begin end)
  "Diagnose the region from BEGIN to END, or the whole buffer, and show the answer.
It works in every buffer."
  (interactive (if (use-region-p) (list (region-beginning) (region-end)) (list (point-min) (point-max))))
  (let ((answer (get-buffer-create "*graphtrap*"))
        (coding-system-for-write 'utf-8-unix)
        (coding-system-for-read 'utf-8-unix))
    (with-current-buffer answer
      (let ((inhibit-read-only t)) (erase-buffer))
      (special-mode))
    (let ((inhibit-read-only t))
      (call-process-region begin end graphtrap-program nil answer nil "diagnose" "-"))
    (with-current-buffer answer (goto-char (point-min)))
    (display-buffer answer)))

;;;###autoload
(defun graphtrap-diagnose-path (path)
  "Diagnose the log or the folder of logs at PATH.
The answer is a compilation: `next-error' goes from line to line of it."
  (interactive "fLog, or folder of logs: ")
  (compile (mapconcat #'shell-quote-argument
                      (list graphtrap-program "diagnose" "--format" "errorformat" (expand-file-name path)) " ")))

(provide 'graphtrap)
;;; graphtrap.el ends here
