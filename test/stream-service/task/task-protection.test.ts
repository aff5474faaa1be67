import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTaskProtection, type TaskProtection } from '../../../stream-service/task/task-protection.ts';
import { type EcsAgent, startEcsAgent } from './ecs-agent.ts';

const ON = { ProtectionEnabled: true, ExpiresInMinutes: 5 };
const OFF = { ProtectionEnabled: false };

let agent: EcsAgent;
let protection: TaskProtection;
let warnings: string[];
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  agent = await startEcsAgent();
  warnings = [];
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (message: string, fields: unknown) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  protection = createTaskProtection({ agentUri: agent.uri, log });
});
afterEach(async () => {
  vi.useRealTimers();
  await protection.close();
  await agent.close();
});

/** `waitFor` works with fake timers; "a second" is its default. */
const SOON = { timeout: 60_000 };
const begin = () => protection.onStreamStart(() => 0);
const expectStates = (states: readonly unknown[]) => vi.waitFor(() => expect(agent.states).toEqual(states), SOON);

describe('createTaskProtection', () => {
  it('protects from the first stream, renews while one runs, and releases after the last', async () => {
    const [one, other] = [begin(), begin()];
    await expectStates([ON]);
    vi.advanceTimersByTime(2 * 60_000);
    await expectStates([ON, ON]);
    one();
    vi.advanceTimersByTime(2 * 60_000);
    await expectStates([ON, ON, ON]);
    other();
    vi.advanceTimersByTime(30_000);
    await expectStates([ON, ON, ON, OFF]);
    vi.advanceTimersByTime(60 * 60_000);
    begin();
    await expectStates([ON, ON, ON, OFF, ON]);
  });

  it('stays protected between the range requests of a player', async () => {
    for (let range = 0; range < 3; range++) {
      begin()();
      vi.advanceTimersByTime(29_999);
    }
    vi.advanceTimersByTime(1);
    await expectStates([ON, OFF]);
  });

  describe('with uninterrupted streams', () => {
    const last = (state: unknown) => vi.waitFor(() => expect(agent.states.at(-1)).toEqual(state), SOON);
    const hours = (count: number) => vi.advanceTimersByTime(count * 60 * 60_000);

    it('pauses after an hour so that a deployment can finish', async () => {
      const one = begin();
      hours(0.98);
      await vi.waitFor(() => expect(agent.states).toHaveLength(30), SOON);
      expect(agent.states).not.toContainEqual(OFF);
      hours(0.02);
      await last(OFF);
      const { length } = agent.states;
      const other = begin();
      hours(0.15);
      expect(agent.states).toHaveLength(length);
      hours(0.02);
      await last(ON);
      for (const end of [one, other]) end();
      vi.advanceTimersByTime(30_000);
      await last(OFF);
    });

    it('stays off after the pause when the streams have ended', async () => {
      const end = begin();
      hours(1);
      await last(OFF);
      const { length } = agent.states;
      end();
      hours(1);
      expect(agent.states).toHaveLength(length);
      begin();
      await last(ON);
    });
  });

  it.each<[string, EcsAgent['answer']]>([
    ['an error', { status: 500, body: { error: { Code: 'ServerException', Message: 'no' } } }],
    ['a failure', { status: 200, body: { failure: { Reason: 'DEPLOYMENT_BLOCKED' } } }],
  ])('logs %s and retries with the next renewal', async (_, answer) => {
    agent.answer = answer;
    begin();
    await vi.waitFor(() => expect(warnings).toEqual([expect.stringMatching(/^Changing task protection failed/)]), SOON);
    agent.answer = { status: 200, body: { protection: {} } };
    vi.advanceTimersByTime(2 * 60_000);
    await expectStates([ON, ON]);
    expect(warnings).toHaveLength(1);
  });

  it('makes no request and leaves no timer after close', async () => {
    const end = begin();
    await expectStates([ON]);
    await protection.close();
    end();
    begin();
    vi.advanceTimersByTime(60 * 60_000);
    expect([agent.states, vi.getTimerCount()]).toEqual([[ON], 0]);
  });

  it('only logs when the agent is unreachable', async () => {
    await agent.close();
    begin()();
    await vi.waitFor(() => expect(warnings).toHaveLength(1), SOON);
    agent = await startEcsAgent();
  });
});
