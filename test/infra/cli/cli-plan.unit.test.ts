import { describe, expect, it } from 'vitest';
import { findStackNames, findTargets, planCommand } from '../../../infra/cli/cli-plan.ts';
import { profileOf } from '../../../infra/config/profiles.ts';
import { readContext } from '../../../infra/config/settings.ts';

const options = { app: 'node app.ts', assembly: '/tmp/assembly' };
const SYNTH = ['synth', '--quiet', '--app', 'node app.ts'];
const PLACE = { account: '111111111111', region: 'eu-central-1', qualifier: 'mine' };

describe('planCommand', () => {
  it('synthesizes only, for synth', () => {
    const plan = planCommand('synth', ['-c', 'profile=hobby', '--output', 'out'], options);
    expect(plan?.synth).toEqual([...SYNTH, '--context', 'profile=hobby', '--output', 'out']);
    expect(plan?.run).toBeUndefined();
  });

  it('deploys the assembly that was synthesized once, with the given context and AWS profile', () => {
    const plan = planCommand(
      'deploy',
      ['--profile', 'work', '-c', 'stage=blue', '--context=profile=public', '-v'],
      options,
    );
    expect(plan?.synth).toEqual([
      ...[...SYNTH, '--context', 'stage=blue', '--context', 'profile=public'],
      ...['--output', '/tmp/assembly', '--profile', 'work'],
    ]);
    expect(plan?.run).toEqual([
      ...['deploy', '--all', '--app', '/tmp/assembly', '--outputs-file', '/tmp/assembly/outputs.json'],
      ...['--require-approval', 'broadening', '--profile', 'work', '-v'],
    ]);
    expect(plan?.awsProfile).toBe('work');
    expect(plan?.bootstrap(PLACE)).toEqual([
      ...['bootstrap', 'aws://111111111111/eu-central-1', '--app', '/tmp/assembly', '--profile', 'work'],
    ]);
  });

  it.each([
    [[], {}],
    [['-c', 'stage=blue', '-c', 'profile='], { stage: 'blue' }],
    [['-c', 'profile=hobby', '--yes', '--context', 'zones=a,b'], { profile: 'hobby', zones: 'a,b' }],
    [['--context=profile=hobby'], { profile: 'hobby' }],
  ])('reads the settings of %j', (flags, named) => expect(planCommand('deploy', flags, options)?.named).toEqual(named));

  it.each([
    [[], ['--require-approval', 'broadening'], true],
    [['--yes'], ['--require-approval', 'never', '--yes'], false],
    [['-y'], ['--require-approval', 'never', '-y'], false],
    [['--require-approval=any-change'], ['--require-approval=any-change'], false],
  ])('asks about wider permissions unless %j says otherwise', (flags, expected, asks) => {
    const plan = planCommand('deploy', flags, options);
    expect(plan?.run?.slice(6)).toEqual(expected);
    expect(plan?.asksForApproval).toBe(asks);
  });

  it('writes the outputs to the file that --outputs-file names', () => {
    const plan = planCommand('deploy', ['--yes', '--outputs-file', 'here.json'], options);
    expect(plan?.outputs).toBe('here.json');
    expect(plan?.run?.filter((flag) => flag === '--outputs-file')).toHaveLength(1);
    expect(plan?.run?.slice(-2)).toEqual(['--outputs-file', 'here.json']);
  });

  it('compares every stack with the deployed one, for diff', () => {
    const plan = planCommand('diff', ['-c', 'profile=hobby', '--fail'], options);
    expect(plan?.synth.slice(SYNTH.length)).toEqual(['--context', 'profile=hobby', '--output', '/tmp/assembly']);
    expect(plan?.run).toEqual(['diff', '--app', '/tmp/assembly', '--fail']);
  });

  it('destroys every stack of a stage, whatever its profile', () => {
    const plan = planCommand('destroy', ['-c', 'profile=hobby', '-c', 'stage=blue', '--force'], options);
    expect(plan?.synth.slice(SYNTH.length)).toEqual([
      ...['--context', 'profile=hobby', '--context', 'stage=blue'],
      ...['--output', '/tmp/assembly', '--context', 'profile=public'],
      ...['--context', 'minTasks=', '--context', 'maxTasks='],
    ]);
    expect(plan?.run).toEqual(['destroy', '--all', '--app', '/tmp/assembly', '--force']);
  });

  it.each([
    ['profile=team', 'maxTasks=1'],
    ['profile=team', 'minTasks=3', 'maxTasks=3'],
    ['profile=public', 'minTasks=30', 'maxTasks=40'],
    ['profile=hobby', 'idleMinutes=5', 'entriesAtOnce=2'],
    ['profile=hobby', 'idleMinutes=5'],
  ])('destroys what was deployed with %s %s', (...settings) => {
    const flags = settings.flatMap((setting) => ['-c', setting]);
    const contextOf = (command: string) =>
      (planCommand(command, flags, options)?.synth ?? []).flatMap((flag, index, all) =>
        all[index - 1] === '--context' ? [flag.split(/=(.*)/s, 2)] : [],
      );
    expect(() => profileOf(readContext(Object.fromEntries(contextOf('deploy'))))).not.toThrow();
    expect(profileOf(readContext(Object.fromEntries(contextOf('destroy'))))).toHaveProperty('firewall');
  });

  it.each(['', 'bootstrap', 'deploy-all'])('rejects the command %j', (command) =>
    expect(planCommand(command, [], options)).toBeUndefined(),
  );
});

describe('findTargets and findStackNames', () => {
  const stack = (environment: string, qualifier: string) => ({
    type: 'aws:cloudformation:stack',
    environment,
    properties: { stackTemplateAssetObjectUrl: `s3://cdk-${qualifier}-assets-1-2/template.json` },
  });

  it('returns each account and region of the stacks once', () => {
    const artifacts = {
      one: stack('aws://111111111111/eu-central-1', 'mine'),
      two: stack('aws://111111111111/eu-central-1', 'mine'),
      edge: stack('aws://111111111111/us-east-1', 'hnb659fds'),
      tree: { type: 'cdk:tree' },
    };
    expect(findTargets({ artifacts })).toEqual([
      { account: '111111111111', region: 'eu-central-1', qualifier: 'mine' },
      { account: '111111111111', region: 'us-east-1', qualifier: 'hnb659fds' },
    ]);
  });

  it('returns the names of the stacks', () => {
    const artifacts = { 'reelay-main': stack('aws://111111111111/eu-central-1', 'assets'), tree: { type: 'cdk:tree' } };
    expect(findStackNames({ artifacts })).toEqual(['reelay-main']);
  });

  it('returns none without credentials', () => {
    expect(findTargets({ artifacts: { one: stack('aws://unknown-account/unknown-region', 'assets') } })).toEqual([]);
    expect(findTargets({})).toEqual([]);
  });
});
