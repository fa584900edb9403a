# Count single tests in ctest's LastTest.log: prints "PASSED FAILED SKIPPED".

# One entry of ctest is over. What has no summary, or ended otherwise than its summary says (a crash), is one more test.
function finish(succeeded) {
  if (!succeeded && !entry_failed) failed++
  if (succeeded && !entry_counted) passed++
  entry_failed = entry_counted = not_run = 0
}

function count(outcome, number) {
  if (outcome == "passed") passed += number
  if (outcome == "failed") failed += number
  if (outcome == "skipped") skipped += number
  if (outcome == "failed" && number > 0) entry_failed = 1
  entry_counted = 1
}

function number_after_colon(    text) {
  text = $0
  sub(/^[^:]*: */, "", text)
  return text + 0
}

# lit: "  Passed           : 12 (85.71%)", one line for each outcome that occurred.
/^ +(Passed|Passed With Retry|Expectedly Failed) *: *[0-9]+/ { count("passed", number_after_colon()) }
/^ +(Failed|Unexpectedly Passed|Unresolved|Timed Out) *: *[0-9]+/ { count("failed", number_after_colon()) }
/^ +(Unsupported|Skipped|Excluded) *: *[0-9]+/ { count("skipped", number_after_colon()) }

# ctest's own words for a program that is not there; it then logs "Test Passed." nevertheless.
/^Unable to find executable: / { not_run = 1 }

# cmocka: "[  PASSED  ] 5 test(s)."
/^\[  PASSED  \] [0-9]+ test/ { count("passed", $4) }
/^\[  FAILED  \] [0-9]+ test/ { count("failed", $4) }
/^\[  SKIPPED \] [0-9]+ test/ { count("skipped", $4) }

/^Test Passed\.$/ { finish(!not_run) }
/^Test Failed\.$/ { finish(0) }

END { print passed + 0, failed + 0, skipped + 0 }
