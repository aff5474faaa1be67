/** `npm run build` or `npm run build -- page`: installs what the service needs and builds the page, so that the folder may be read-only from then on. */
import { buildPage } from './build-page.ts';

const [wanted = 'page'] = process.argv.slice(2);
if (wanted !== 'page') {
  process.stderr.write('Use: npm run build -- page|client|package|packages|extension|release\n');
  process.exit(1);
}
await buildPage().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
