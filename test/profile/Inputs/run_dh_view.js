// Run Valgrind's dh_view.js on a file, without a browser: build its tree and print what the root holds.
const fs = require("fs");
const vm = require("vm");
const [viewer, file] = process.argv.slice(2);
const context = vm.createContext({ console, document: {}, data: JSON.parse(fs.readFileSync(file, "utf8")) });
vm.runInContext(fs.readFileSync(viewer, "utf8"), context, { filename: viewer });
vm.runInContext(`
  gSelect = { childNodes: gSelectData.map(() => ({})), selectedIndex: 0 };
  gData = data;
  buildTree();
  const end = gData.bklt ? ", " + gRoot._atTEndBytes + " at the end" : "";
  console.log("total " + gRoot._totalBytes + " bytes in " + gRoot._totalBlocks + " blocks" + end + ", " +
              gData.pps.length + " points");
`, context);
