/** `npm run prove-deployment`: deploys, verifies, updates, changes and destroys a stage in a throw-away account. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingError } from '../../core/config/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import { UsageError } from '../command-line.ts';
import { createAwsActions, findPlace } from './aws-actions.ts';
import { parseOptions, USAGE } from './options.ts';
import { describePlan, planProof } from './plan.ts';
import { formatProof, isProven, prove } from './prove.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function main(args: readonly string[], folder: string): Promise<number> {
  const options = parseOptions(args);
  const outputsFile = join(folder, 'outputs.json');
  const steps = planProof(options, outputsFile);
  if (options.isDryRun) {
    say(`Would prove the stage ${options.stage}:\n${describePlan(steps)}`);
    return 0;
  }
  const actionOptions = { ...options, folder, outputsFile };
  const place = await findPlace(actionOptions);
  say(`In the account ${options.account}, in ${place.targets.map(({ region }) => region).join(' and ')}:`);
  say(describePlan(steps));
  const interruption = new AbortController();
  // A second signal ends the process as usual.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interruption.abort(new Error('Interrupted: destroying the stage; repeat to leave it')));
  const { stage } = options;
  const results = await prove({
    ...{ steps, stage, say },
    actions: createAwsActions(actionOptions, place),
    signal: interruption.signal,
  });
  say(formatProof(results, stage));
  return isProven(results) ? 0 : 1;
}

const folder = mkdtempSync(join(tmpdir(), 'reelay-proof-'));
try {
  const args = process.argv.slice(2);
  if (args.includes('--help')) say(USAGE);
  else process.exitCode = await main(args, folder);
} catch (error) {
  const isUsage = error instanceof UsageError || error instanceof SettingError;
  process.stderr.write(`${messageOf(error)}\n${isUsage ? `\n${USAGE}\n` : ''}`);
  process.exitCode = isUsage ? 2 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
