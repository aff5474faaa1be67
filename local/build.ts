/** `npm run build`: installs what the service needs and builds the page, so that the folder may be read-only from then on. */
import { buildPage } from './page/index.ts';

await buildPage().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
