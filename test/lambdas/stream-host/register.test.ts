import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HostEvent } from '../../../core/http/host-event.ts';
import { silentLog } from '../../../core/log/index.ts';
import { createRegistration } from '../../../stream-service/task/registration.ts';
import { type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

const NAMES = { '02:01': 'old.example', '02:02': 'young.example' };
let fixture: OnDemandFixture;
beforeEach(async () => {
  versions = new Map();
  fixture = await startOnDemandFixture();
  for (const [address, name] of Object.entries(NAMES)) fixture.aws.names.set(address, name);
  await fixture.send({ kind: 'ahead' });
});

const OLD = { macAddress: '02:01', secret: 'old-secret' };
const YOUNG = { macAddress: '02:02', secret: 'young-secret' };
let versions: Map<string, string | undefined>;
/** As a task does it: with the version that it was last answered. */
async function tell(event: Exclude<HostEvent, { kind: 'ahead' }>) {
  const { version, ...answer } = Object(await fixture.send({ ...event, version: versions.get(event.secret) }));
  versions.set(event.secret, version ?? versions.get(event.secret));
  return answer;
}
const serve = (task: typeof OLD) => tell({ kind: 'serving', ...task });
const leave = ({ secret }: typeof OLD, isIdle = false) => tell({ kind: 'leaving', secret, isIdle });
const record = () => fixture.aws.store.get('host');
const holder = () => record()?.split('|')[0];
const throttled: OnDemandFixture['aws']['interfere'] = (operation) =>
  operation === 'UpdateService' ? { type: 'ThrottlingException', message: 'Rate exceeded' } : undefined;
const paid = () => fixture.aws.calls.filter((call) => /Key/.test(call));

describe('the registration of the stream host', () => {
  it('has its name, its secret and the end of its lease, and is renewed before that', async () => {
    expect(await serve(OLD)).toEqual({ host: 'registered' });
    const expiresAt = (minutes: number) => Math.floor(fixture.now() / 1000) + 60 * minutes;
    expect(record()).toBe(`old.example|old-secret|${expiresAt(45)}`);
    for (let turn = 0; turn < 6; turn++) {
      fixture.pass(1200);
      await serve(OLD);
      expect(record()).toBe(`old.example|old-secret|${expiresAt(45)}`);
    }
    expect(JSON.stringify(fixture.logged)).not.toContain('old-secret');
  });

  it('is that of the youngest task: a renewal of an older one changes nothing, and neither does its end', async () => {
    await serve(OLD);
    await serve(YOUNG);
    expect(holder()).toBe('young.example');
    expect(await serve(OLD)).toEqual({ host: 'replaced' });
    expect(await leave(OLD, true)).toEqual({ host: 'replaced' });
    expect([holder(), fixture.aws.service.desiredCount]).toEqual(['young.example', 1]);
  });

  it('ends with the task, which ECS then replaces', async () => {
    await serve(OLD);
    expect(await leave(OLD)).toEqual({ host: 'left' });
    expect([holder(), fixture.aws.service.desiredCount]).toEqual([undefined, 1]);
  });

  it('ends before the service of an idle task is stopped', async () => {
    await serve(OLD);
    fixture.aws.interfere = throttled;
    await expect(leave(OLD, true)).rejects.toThrow('Rate exceeded');
    expect([holder(), fixture.aws.service.desiredCount]).toEqual([undefined, 1]);
    fixture.aws.interfere = undefined;
    expect(await leave(OLD, true)).toEqual({ host: 'left' });
    expect(fixture.aws.service.desiredCount).toBe(0);
  });

  it.each([
    ['that never was', () => undefined],
    ['of a task that has crashed long ago', () => fixture.aws.store.set('host', 'gone.example|another|1')],
  ])('%s does not keep an idle task', async (_, prepare) => {
    prepare();
    expect(await leave(OLD, true)).toEqual({ host: 'left' });
    expect(fixture.aws.service.desiredCount).toBe(0);
  });

  it('is paid for with one call for each renewal, and for its end', async () => {
    await serve(OLD);
    await serve(OLD);
    await leave(OLD);
    expect(paid()).toEqual(['DescribeKeyValueStore', 'PutKey', 'PutKey', 'DeleteKey']);
  });

  it('is made again by an idle task that could not be stopped', async () => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', fixture.aws.endpoint);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'an-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    const metadataUri = `${fixture.aws.endpoint}/metadata/02:01`;
    const task = createRegistration({ hostFunction: 'wake', metadataUri, log: silentLog });
    onTestFinished(() => task.close());
    const served = fixture.nextEvent('serving');
    task.start();
    await served;
    fixture.aws.interfere = throttled;
    await expect(task.leave(true)).rejects.toThrow('wake failed');
    expect([holder(), fixture.aws.service.desiredCount]).toEqual(['old.example', 1]);
    fixture.aws.interfere = undefined;
    await task.leave(true);
    expect([holder(), fixture.aws.service.desiredCount]).toEqual([undefined, 0]);
  });

  it('survives other writers of the store, and fails after a limited number of attempts', async () => {
    let left = 4;
    const conflict = { status: 409, type: 'ConflictException' };
    fixture.aws.interfere = (operation) => (operation === 'PutKey' && left-- > 0 ? conflict : undefined);
    await serve(OLD);
    expect(holder()).toBe('old.example');
    left = 5;
    versions.clear();
    await expect(serve(OLD)).rejects.toThrow('changed concurrently');
  });

  it('fails while the network interface has no public name, so that the task tries again', async () => {
    await expect(serve({ ...OLD, macAddress: '02:99' })).rejects.toThrow('02:99 has no public name');
    expect(record()).toBeUndefined();
  });
});
