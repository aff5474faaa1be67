/** `npm run verify -- https://instance.example [--link …]`: verifies a running instance and prints a report. */
import { siteOf } from '../../core/config/index.ts';
import { UsageError } from '../command-line.ts';
import { parseOptions, readLinks, USAGE } from './options.ts';
import { countResults, formatResult, formatSites, formatSummary } from './report.ts';
import { NotAdmitted, Unreachable, verify } from './verify.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    say(USAGE);
    process.exit(0);
  }
  const { isJson, linksFile, ...input } = parseOptions(args, process.env);
  const listed = linksFile === undefined ? [] : await readLinks(linksFile);
  const sites = Map.groupBy(listed, siteOf);
  if (!isJson) say(`Verifying ${input.baseUrl}`);
  let group = '';
  const verification = await verify({
    ...input,
    sites,
    onResult: (result) => {
      if (isJson) return;
      if (result.group !== group) say(result.group);
      group = result.group;
      say(formatResult(result));
    },
  });
  if (!isJson && sites.size > 0) say(`\n${formatSites(verification, [...sites.keys()])}\n`);
  say(isJson ? JSON.stringify(verification, null, 2) : formatSummary(verification));
  process.exitCode = countResults(verification, 'failed') > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof UsageError || error instanceof NotAdmitted || error instanceof Unreachable)) throw error;
  process.stderr.write(`${error.message}\n${error instanceof UsageError ? `\n${USAGE}\n` : ''}`);
  process.exitCode = error instanceof Unreachable ? 3 : 2;
}
