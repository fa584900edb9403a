# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
PARTS := $(patsubst %,$(DIR)/%.heap,$(shell seq $(COUNT)))

all: $(PARTS)

$(DIR)/%.heap: $(DIR)/%.list
	$(HERE)/batch.sh $(DIR) $*
