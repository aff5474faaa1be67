/**
 * `npm run infra -- reopen [--stage main] [--profile NAME] [--status]`: opens an edge that the cost guard has closed, and counts spending
 * from now on; with `--status` it only says what has been spent.
 */
import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { readOutput } from './deployed-settings.ts';

/** What the guard answers. */
interface Report {
  readonly closedUntil: string | null;
  readonly spending: Readonly<Record<'hour' | 'day', { readonly spent: number }>>;
  readonly caps: Readonly<Record<'hour' | 'day', number>>;
}

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
  const name = await readOutput(stack, 'CostGuardFunction', region, values.profile);
  if (!name) throw new Error(`There is no stack ${stack} with a cost guard in ${region}: name it with --stage`);
  process.stdout.write(`${describe(await invoke(name, region))}\n`);

  async function invoke(FunctionName: string, place: string): Promise<Report> {
    const client = new LambdaClient({ region: place, profile: values.profile });
    try {
      const Payload = JSON.stringify(values.status ? {} : { open: true });
      const { FunctionError, Payload: answer } = await client.send(new InvokeCommand({ FunctionName, Payload }));
      const text = answer?.transformToString() ?? '';
      if (FunctionError) throw new Error(`The cost guard failed: ${text.slice(0, 300)}`);
      return JSON.parse(text);
    } finally {
      client.destroy();
    }
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function describe({ closedUntil, spending, caps }: Report): string {
  const spent = (period: 'hour' | 'day') => `$${spending[period].spent.toFixed(2)} of $${caps[period]}`;
  const state = closedUntil ? `Closed until ${closedUntil}` : 'Open';
  return `${state}. By the metrics ${spent('hour')} this hour and ${spent('day')} today, by list prices`;
}
