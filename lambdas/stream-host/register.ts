import type { HostAnswer, HostEvent } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { type AwsCall, query, textOf } from '../aws-call.ts';
import type { HostActivity, HostService, HostStore } from './host.ts';

/** The key of the key-value store that the edge function reads. */
export const HOST_KEY = 'host';

/** Lifetime of a registration: the address of a task that has crashed may belong to another customer later. */
const LEASE_SECONDS = 45 * 60;

/** The public DNS name of a network interface of the tasks. @throws Error while it has none */
type PublicName = (macAddress: string) => Promise<string>;

interface PublicNameOptions {
  readonly call: AwsCall;
  readonly region: string;
  /** That of the tasks. */
  readonly securityGroup: string;
}

export const createPublicName =
  ({ call, region, securityGroup }: PublicNameOptions): PublicName =>
  async (macAddress) => {
    const found = await query(
      call,
      { name: 'DescribeNetworkInterfaces', service: 'ec2', region },
      {
        Version: '2016-11-15',
        'Filter.1.Name': 'mac-address',
        'Filter.1.Value.1': macAddress,
        'Filter.2.Name': 'group-id',
        'Filter.2.Value.1': securityGroup,
      },
    );
    const name = textOf(found, 'publicDnsName');
    if (!name) throw new Error(`The network interface ${macAddress} has no public name`);
    return name;
  };

/** Reads what `createOnHostEvent` writes. @param seconds since the epoch @returns undefined when it is not in force */
export function registrationOf(value: string | undefined, seconds: number) {
  const [, secret, end] = value?.split('|') ?? [];
  const expiresAt = Number(end);
  return expiresAt > seconds ? { secret, expiresAt } : undefined;
}

interface HostEventOptions {
  readonly service: HostService;
  readonly store: HostStore;
  readonly publicName: PublicName;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/**
 * Starts the stream host ahead of the first stream, and tells the edge where it is: the task itself says when it serves and when it
 * leaves. The youngest task is registered, as `name|secret|expiry`.
 * @returns the handler. It throws whatever fails, and the sender tries again
 */
export function createOnHostEvent({ service, store, publicName, log, now = Date.now }: HostEventOptions) {
  const seconds = () => Math.floor(now() / 1000);

  const holder = async () => registrationOf(await store.read(), seconds())?.secret;

  /** Takes one call where no other task has written since this one. Undefined: a younger task is registered. */
  const write = async (value: string | undefined, { secret, version }: Exclude<HostEvent, { kind: 'ahead' }>) => {
    const written = version && (await store.writeTo(version, value));
    if (written) return written;
    const isFirst = value !== undefined && version === undefined;
    if (!isFirst && ![secret, undefined].includes(await holder())) return undefined;
    return store.write(value);
  };

  return async (event: HostEvent): Promise<HostAnswer | { readonly host: HostActivity }> => {
    if (event.kind === 'ahead') return { host: await service.wake() };
    if (event.kind === 'serving') {
      const name = await publicName(event.macAddress);
      const version = await write(`${name}|${event.secret}|${seconds() + LEASE_SECONDS}`, event);
      if (!version) return { host: 'replaced' };
      log.info('Registered the stream host', { name });
      return { host: 'registered', version };
    }
    // The registration first, so that the edge sends no streams to a task that stops.
    if (!(await write(undefined, event))) return { host: 'replaced' };
    if (event.isIdle) await service.stop();
    log.info('The stream host leaves', { isIdle: event.isIdle });
    return { host: 'left' };
  };
}
