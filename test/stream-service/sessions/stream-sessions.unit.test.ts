import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CapacityExceeded, ClientLimitExceeded } from '../../../core/errors/index.ts';
import {
  createAdmission,
  createStreamSessions,
  noopObserver,
} from '../../../stream-service/sessions/stream-sessions.ts';

const [FIRST_KEY, SECOND_KEY] = ['first', 'second'].map((key) => createHash('sha256').update(key).digest('hex'));

const createSessions = () =>
  createStreamSessions(createAdmission({ maxStreams: 10, maxStreamsPerClient: 1, maxFfmpeg: 1 }), noopObserver);
const responseOf = () => new ServerResponse(new IncomingMessage(new Socket()));

describe('createStreamSessions', () => {
  it('limits the streams of an access key over all its addresses', () => {
    const sessions = createSessions();
    sessions.open('192.0.2.1', responseOf(), FIRST_KEY);
    expect(() => sessions.open('192.0.2.2', responseOf(), FIRST_KEY)).toThrow(ClientLimitExceeded);
    expect(sessions.open('192.0.2.1', responseOf(), SECOND_KEY).client).not.toContain('192.0.2.1');
  });

  it('limits the streams of an address on an open instance, until one of them has closed', () => {
    const sessions = createSessions();
    const response = responseOf();
    sessions.open('192.0.2.1', response);
    sessions.open('192.0.2.2', responseOf());
    expect(() => sessions.open('192.0.2.1', responseOf())).toThrow(ClientLimitExceeded);
    response.emit('close');
    sessions.open('192.0.2.1', responseOf());
  });

  it('ends the open streams and refuses new ones while they are suspended', () => {
    const sessions = createSessions();
    const response = responseOf();
    sessions.open('192.0.2.1', response);
    sessions.suspend('The spending limit is reached');
    expect(response.destroyed).toBe(true);
    response.emit('close');
    expect(() => sessions.open('192.0.2.1', responseOf())).toThrow(CapacityExceeded);
    sessions.suspend(undefined);
    sessions.open('192.0.2.1', responseOf());
  });

  it('gives an IPv6 network four times what one client may', () => {
    const sessions = createSessions();
    const addressOf = (index: number) => `2001:db8:1:${index}00::1`;
    const responses = [0, 1, 2, 3].map((index) => {
      const response = responseOf();
      sessions.open(addressOf(index), response);
      return response;
    });
    for (const index of [4, 5])
      expect(() => sessions.open(addressOf(index), responseOf())).toThrow(ClientLimitExceeded);
    sessions.open('2001:db8:2::1', responseOf());
    // The refused ones hold no name.
    responses[1]?.emit('close');
    expect(sessions.open(addressOf(6), responseOf()).client).toBe('20010db8000106');
  });
});
