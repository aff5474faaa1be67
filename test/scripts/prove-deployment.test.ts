import { describe, expect, it } from 'vitest';
import { SettingError } from '../../core/config/parsers.ts';
import { UsageError } from '../../scripts/command-line.ts';
import { parseOptions } from '../../scripts/prove-deployment/options.ts';
import { describePlan, planProof } from '../../scripts/prove-deployment/plan.ts';
import { formatProof, isProven, prove } from '../../scripts/prove-deployment/prove.ts';

const ACCOUNT = ['--account', '111111111111'];
const STAGE = [...ACCOUNT, '--stage', 'proof'];
const planOf = (...args: string[]) => planProof(parseOptions([...STAGE, ...args]), 'outputs.json');
const VERIFY = 'verify';

describe('parseOptions', () => {
  it('has a stage of its own by default, another one each time', () => {
    const [one, two] = [parseOptions(ACCOUNT), parseOptions(ACCOUNT)];
    expect(one.stage).toMatch(/^proof-[0-9a-f]{6}$/);
    expect(one.stage).not.toBe(two.stage);
    expect(one).toMatchObject({ profiles: ['hobby', 'team'], isDryRun: false, isKept: false });
  });

  it('needs an account, except for a dry run', () => {
    expect(() => parseOptions([])).toThrow(/--account/);
    expect(parseOptions(['--dry-run']).account).toBeUndefined();
  });

  it.each([
    [['--account', '123']],
    [[...ACCOUNT, 'there']],
    [[...ACCOUNT, '--unknown']],
    [[...ACCOUNT, '-c', 'stage=main']],
    [[...ACCOUNT, '-c', 'profile=team']],
    [[...ACCOUNT, '-c', 'streamHost=lambda']],
    [[...ACCOUNT, '--link', 'words']],
  ])('rejects %j', (args) => expect(() => parseOptions(args)).toThrow(UsageError));

  it.each([
    [[...ACCOUNT, '--profiles', 'hobby,huge']],
    [[...ACCOUNT, '--profiles', 'team:lambda']],
    [[...ACCOUNT, '--stage', 'Not A Stage']],
    [[...ACCOUNT, '-c', 'logDays=never']],
  ])('rejects the settings of %j', (args) => expect(() => parseOptions(args)).toThrow(SettingError));
});

describe('planProof', () => {
  it('deploys, verifies, updates, verifies, changes the profile, verifies and destroys', () => {
    const steps = planOf('-c', 'architecture=x86_64');
    expect(steps.map(({ kind }) => kind)).toEqual([
      ...['deploy', VERIFY, 'update-tools', VERIFY, 'deploy', VERIFY, 'destroy', 'check-gone'],
    ]);
    expect(steps.flatMap((step) => ('args' in step ? [step.args.join(' ')] : []))).toEqual([
      'deploy -c stage=proof -c architecture=x86_64 -c profile=hobby --yes --outputs-file outputs.json',
      'deploy -c stage=proof -c architecture=x86_64 -c profile=team --yes --outputs-file outputs.json',
      'destroy -c stage=proof -c architecture=x86_64 --force --unprotect',
    ]);
  });

  it('deploys a profile with the stream host that follows it', () => {
    const [deployed, , , , changed] = planOf('--profiles', 'hobby,hobby:lambda');
    expect(deployed).toMatchObject({ args: expect.arrayContaining(['profile=hobby']) });
    expect(changed).toMatchObject({
      title: 'Change the profile from hobby to hobby:lambda',
      args: expect.arrayContaining(['profile=hobby', 'streamHost=lambda']),
    });
  });

  it('changes through every profile that is named, and keeps the last one with --keep', () => {
    const steps = planOf('--profiles', 'team,public,hobby', '--keep');
    expect(steps.map(({ title }) => title)).toEqual([
      ...['Deploy the profile team', 'Verify the profile team', 'Update the tools'],
      ...[
        'Verify the profile with updated tools',
        'Change the profile from team to public',
        'Verify the profile public',
      ],
      ...['Change the profile from public to hobby', 'Verify the profile hobby'],
    ]);
  });

  it('is described by its commands, durations and cost', () => {
    const text = describePlan(planOf());
    expect(text.split('\n').slice(0, 3)).toEqual([
      ' 1. Deploy the profile hobby (about 12 minutes)',
      '    node infra/cli/main.ts deploy -c stage=proof -c profile=hobby --yes --outputs-file outputs.json',
      ' 2. Verify the profile hobby (about 3 minutes)',
    ]);
    expect(text).toMatch(/^About \d+ minutes, less than \$1/m);
  });
});

describe('prove', () => {
  /** An account: records what is done, and fails where told. */
  function createAccount(failing: readonly string[] = [], deployed?: string) {
    const done: string[] = [];
    const interruption = new AbortController();
    let profile = deployed;
    const act = (name: string) => {
      done.push(name);
      if (failing.includes(name)) throw new Error(`No ${name}`);
    };
    const run = (...args: string[]) => {
      const said: string[] = [];
      const actions = {
        deployedProfile: async () => profile,
        async runCli([command = '', ...rest]: readonly string[]) {
          const named = rest.find((arg) => arg.startsWith('profile='))?.slice('profile='.length);
          if (command === 'deploy') profile = named;
          act([command, named].filter(Boolean).join(' '));
          if (command === 'destroy') profile = undefined;
        },
        verify: async () => act('verify'),
        async updateTools() {
          act('update');
          return 'Updated';
        },
      };
      const input = { steps: planOf(...args), stage: 'proof', say: (line: string) => void said.push(line) };
      return prove({ ...input, actions, signal: interruption.signal }).then((results) => ({ results, said }));
    };
    return { run, done, interruption };
  }
  const ALL = ['deploy hobby', 'verify', 'update', 'verify', 'deploy team', 'verify', 'destroy'];

  it('runs every step in order', async () => {
    const { run, done } = createAccount();
    const { results } = await run();
    expect(done).toEqual(ALL);
    expect(isProven(results)).toBe(true);
    expect(formatProof(results, 'proof')).not.toContain('The stage remains');
  });

  it('refuses a stage that exists, and touches nothing', async () => {
    const { run, done } = createAccount([], 'team');
    await expect(run()).rejects.toThrow('The stage proof exists, with the profile team: name another one');
    expect(done).toEqual([]);
  });

  it.each([
    ['deploy hobby', ['deploy hobby', 'destroy']],
    ['verify', ['deploy hobby', 'verify', 'destroy']],
    ['update', ['deploy hobby', 'verify', 'update', 'destroy']],
    ['deploy team', [...ALL.slice(0, 5), 'destroy']],
  ])('destroys the stage after a failure of %s', async (failing, expected) => {
    const { run, done } = createAccount([failing]);
    const { results, said } = await run();
    expect(done).toEqual(expected);
    expect(isProven(results)).toBe(false);
    expect(results.at(-1)).toMatchObject({ outcome: 'ok' });
    expect(said).toContain(`No ${failing}`);
  });

  it('reports a stage that could not be destroyed', async () => {
    const { run } = createAccount(['destroy']);
    const { results } = await run();
    expect(results.slice(-2).map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect(formatProof(results, 'proof')).toContain('The stage remains: npm run destroy -- -c stage=proof');
  });

  it('destroys the stage when it is interrupted', async () => {
    const { run, done, interruption } = createAccount();
    interruption.abort();
    const { results } = await run();
    expect(done).toEqual(['destroy']);
    expect(results.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(6);
  });

  it('leaves the stage with --keep', async () => {
    const { run, done } = createAccount();
    const { results } = await run('--keep');
    expect(done).toEqual(ALL.slice(0, -1));
    expect(isProven(results)).toBe(true);
    expect(formatProof(results, 'proof')).toContain('The stage remains');
  });
});
