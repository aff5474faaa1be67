import { randomBytes } from 'node:crypto';
import { readContext } from '../../infra/config/index.ts';
import { parseCommandLine, UsageError } from '../command-line.ts';

/** What to prove, and where. */
export interface ProofOptions {
  /** The account that the credentials must belong to. Not needed for a dry run. */
  readonly account: string | undefined;
  readonly stage: string;
  /** Deployed one after another, each over the one before. A stream host may follow: `hobby:lambda`. */
  readonly profiles: readonly string[];
  /** Links that each deployment resolves and streams. */
  readonly links: readonly string[];
  /** Further CDK context: `architecture=x86_64`. */
  readonly context: readonly string[];
  readonly isDryRun: boolean;
  /** Whether to leave the last deployment in place. */
  readonly isKept: boolean;
}

export const USAGE = `Use: npm run prove-deployment -- --account 123456789012 [--profiles hobby,hobby:lambda,team] [--stage NAME] [--link https://…]…
       [-c setting=value]… [--keep] [--dry-run]

Deploys a new stage to a throw-away account, verifies it, updates its tools, changes its profile, verifies it again, and
destroys it. --dry-run prints the steps and needs no account. Credentials and region as for npm run deploy.`;

const ACCOUNT = /^\d{12}$/;

/** @throws UsageError @throws SettingError when a setting of the deployments is invalid */
export function parseOptions(args: readonly string[]): ProofOptions {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      account: { type: 'string' },
      stage: { type: 'string', default: `proof-${randomBytes(3).toString('hex')}` },
      profiles: { type: 'string', default: 'hobby,team' },
      link: { type: 'string', multiple: true, default: [] },
      context: { type: 'string', short: 'c', multiple: true, default: [] },
      keep: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  if (positionals.length > 0) throw new UsageError(`Unknown argument ${positionals.join(' ')}`);
  const { account, stage, context, 'dry-run': isDryRun, keep: isKept, link: links } = values;
  if (account !== undefined && !ACCOUNT.test(account)) throw new UsageError(`--account is 12 digits, not ${account}`);
  if (account === undefined && !isDryRun)
    throw new UsageError('Name the throw-away account with --account: nothing is deployed to any other');
  const profiles = values.profiles.split(',').map((profile) => profile.trim());
  for (const pair of context)
    if (/^(stage|profile|streamHost)=/.test(pair))
      throw new UsageError(`Use --stage and --profiles instead of -c ${pair}`);
  for (const link of links) if (!URL.canParse(link)) throw new UsageError(`--link must be a URL, not ${link}`);
  const settings = Object.fromEntries(context.map((pair) => pair.split(/=(.*)/s, 2)));
  for (const profile of profiles) readContext({ ...settings, stage, ...contextOf(profile) });
  return { account, stage, profiles, links, context, isDryRun, isKept };
}

/** CDK context of an entry of `--profiles`. */
export function contextOf(entry: string): Readonly<Record<string, string>> {
  const [profile = '', streamHost] = entry.split(':');
  return { profile, ...(streamHost !== undefined && { streamHost }) };
}
