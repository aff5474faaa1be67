/**
 * `npm run infra -- reopen [--stage main] [--profile NAME] [--status]`: opens an edge that the cost guard has closed, and counts spending
 * from now on; with `--status` it only says what has been spent.
 */
import { parseArgs } from 'node:util';
import { askCostGuard, type SpendingReport } from './deployed-settings.ts';

try {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string', default: 'main' },
      profile: { type: 'string' },
      status: { type: 'boolean', default: false },
    },
  });
  const { AWS_REGION: region = process.env.AWS_DEFAULT_REGION } = process.env;
  if (!region) throw new Error('Set AWS_REGION to the region of the stack');
  const stack = `reelay-${values.stage}`;
  const report = await askCostGuard(stack, region, { awsProfile: values.profile, open: !values.status });
  if (!report) throw new Error(`There is no stack ${stack} with a cost guard in ${region}: name it with --stage`);
  process.stdout.write(`${describe(report)}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function describe({ closedUntil, spending, caps }: SpendingReport): string {
  const spent = (period: 'hour' | 'day') => `$${spending[period].spent.toFixed(2)} of $${caps[period]}`;
  const state = closedUntil ? `Closed until ${closedUntil}` : 'Open';
  return `${state}. By the metrics ${spent('hour')} this hour and ${spent('day')} today, by list prices`;
}
