import type { ChildProcess } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRelay } from '../../../local/hand-over/relay.mjs';

/** A service process, of which only its messages matter. */
function fakeService(pid: number) {
  const messages: unknown[] = [];
  const process = { pid, connected: true, send: (message: unknown) => messages.push(message) };
  return { messages, process: process as unknown as ChildProcess };
}

describe('createRelay', () => {
  let former: ReturnType<typeof fakeService>;
  let next: ReturnType<typeof fakeService>;
  let current: ChildProcess | undefined;
  let relay: ReturnType<typeof createRelay>;
  beforeEach(() => {
    former = fakeService(1);
    next = fakeService(2);
    current = next.process;
    relay = createRelay(() => current);
  });

  it('relays a call to the service in charge, and its reply to the caller', () => {
    relay.call(former.process, { id: '7', payload: 'question' });
    expect(next.messages).toEqual([{ reelay: 'call', id: '1:7', payload: 'question' }]);
    relay.reply({ id: '1:7', payload: 'answer' });
    expect(former.messages).toEqual([{ reelay: 'reply', id: '7', payload: 'answer' }]);
  });

  it('replies to a call once', () => {
    relay.call(former.process, { id: '7', payload: 'question' });
    relay.reply({ id: '1:7', payload: 'answer' });
    relay.reply({ id: '1:7', payload: 'another' });
    expect(former.messages).toHaveLength(1);
  });

  it('replies without a payload when no service is in charge', () => {
    current = undefined;
    relay.call(former.process, { id: '7', payload: 'question' });
    expect(former.messages).toEqual([{ reelay: 'reply', id: '7', payload: undefined }]);
  });

  it('replies without a payload when the service in charge ends', () => {
    relay.call(former.process, { id: '7', payload: 'question' });
    relay.forget(next.process);
    expect(former.messages).toEqual([{ reelay: 'reply', id: '7', payload: undefined }]);
  });

  it('holds calls of a service that is handing over until the next one is in charge', () => {
    current = former.process;
    relay.call(former.process, { id: '7', payload: 'question' });
    relay.call(former.process, { id: '8', payload: 'second' });
    expect([...former.messages, ...next.messages]).toEqual([]);
    current = next.process;
    relay.release();
    relay.release();
    expect(next.messages).toEqual([
      { reelay: 'call', id: '1:7', payload: 'question' },
      { reelay: 'call', id: '1:8', payload: 'second' },
    ]);
  });

  it('replies to held calls without a payload when no service takes over', () => {
    current = former.process;
    relay.call(former.process, { id: '7', payload: 'question' });
    current = undefined;
    relay.release();
    expect(former.messages).toEqual([{ reelay: 'reply', id: '7', payload: undefined }]);
  });

  it('drops held calls of a service that ends', () => {
    current = former.process;
    relay.call(former.process, { id: '7', payload: 'question' });
    relay.forget(former.process);
    current = next.process;
    relay.release();
    expect([...former.messages, ...next.messages]).toEqual([]);
  });

  it('sends nothing to a service that has ended', () => {
    relay.call(former.process, { id: '7', payload: 'question' });
    Object.assign(former.process, { connected: false });
    relay.reply({ id: '1:7', payload: 'answer' });
    expect(former.messages).toEqual([]);
  });
});
