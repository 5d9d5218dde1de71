#!/usr/bin/env node
// Nothing else is imported here: it would run before the check of Node's version and outside the compile cache.
import '@vitrine/cli/main'
