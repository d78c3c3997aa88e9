// @ts-check
/** Checks a proof file beside the page, so that a long one does not hold it up: a worker around `verify`. */

import { lineOf, verify } from "/verify.js";

addEventListener("message", async ({ data }) => {
  const [file, evidence] = data;
  const report = await verify(file, { ...evidence, progress: (done, all) => postMessage({ done, all }) });
  postMessage({ report, lines: report.claims.map(lineOf) });
});
