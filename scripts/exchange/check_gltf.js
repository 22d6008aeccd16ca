// The glTF validator: no errors, no warnings. Arguments: FILE...
const fs = require("fs");
const validator = require("gltf-validator");

(async () => {
  for (const path of process.argv.slice(2)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)), { maxIssues: 50 });
    const { numErrors, numWarnings } = report.issues;
    if (numErrors + numWarnings > 0) {
      console.error(JSON.stringify(report.issues, null, 1));
      console.error(`${path}: ${numErrors} errors, ${numWarnings} warnings`);
      process.exit(1);
    }
    const info = report.info;
    console.log(`gltf-validator: ${path.split("/").pop()}: no errors, no warnings; ${info.drawCallCount} primitives, ${info.totalTriangleCount} triangles, morph targets: ${info.hasMorphTargets}, extensions: ${info.extensionsUsed}`);
  }
})();
