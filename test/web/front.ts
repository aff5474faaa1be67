import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { PATIENCE } from './site.ts';

/** What stands between visitors and the service: it refuses or breaks off what the test says. */
export interface Front {
  readonly baseUrl: string;
  /** From now on, requests whose path begins so are answered with this; without an answer they go through again. */
  refuse(prefix: string, answer?: Refusal): void;
  /** The next answer to such a path stops after so many bytes of its body, until it is let go or broken off. */
  hold(prefix: string, afterBytes: number): void;
  /** What is held, or is about to be, goes on. */
  letGo(): Promise<void>;
  /** What is held, or is about to be, loses its connection. */
  breakOff(): Promise<void>;
  /** Answers under way. */
  readonly open: number;
  /** Range headers of the requests that went through to such paths; undefined where there was none. */
  rangesOf(prefix: string): readonly (string | undefined)[];
}

export interface Refusal {
  readonly status: number;
  readonly title: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** A front of one test file, there from `beforeAll` to `afterAll`. */
export function useFront(target: () => string): Front {
  const refusals = new Map<string, Refusal>();
  const limits = new Map<string, number>();
  const held = new Set<{ goOn(): void; breakOff(): void }>();
  let open = 0;
  const passed: { path: string; range: string | undefined }[] = [];
  const of = <T>(map: ReadonlyMap<string, T>, path: string) => [...map].find(([prefix]) => path.startsWith(prefix));

  const pass = (incoming: IncomingMessage, response: ServerResponse) => {
    const { url: path = '/', method, headers } = incoming;
    const { hostname, port } = new URL(target());
    passed.push({ path, range: headers.range });
    const [prefix, limit] = of(limits, path) ?? [];
    if (prefix !== undefined) limits.delete(prefix);
    const outgoing = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (limit !== undefined) sendPart(answer, response, limit);
      else answer.pipe(response);
    });
    open++;
    response.once('close', () => open--);
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };

  const sendPart = (answer: IncomingMessage, response: ServerResponse, limit: number) => {
    let left = limit;
    const take = (chunk: Buffer) => {
      const piece = chunk.subarray(0, left);
      left -= piece.length;
      response.write(piece);
      if (left > 0) return;
      answer.off('data', take).pause();
      const rest = chunk.subarray(piece.length);
      const one = {
        goOn() {
          response.write(rest);
          answer.pipe(response);
        },
        breakOff: () => response.destroy(),
      };
      held.add(one);
      response.once('close', () => held.delete(one));
    };
    answer.on('data', take);
  };

  /** Bytes show in the page before the last of them are through. */
  const untilHeld = () => vi.waitUntil(() => held.size > 0, { timeout: PATIENCE, interval: 20 });

  const server = createServer((incoming, response) => {
    const [, refusal] = of(refusals, incoming.url ?? '/') ?? [];
    if (!refusal) return pass(incoming, response);
    const { retryAfter, ...problem } = refusal;
    response.writeHead(refusal.status, {
      'content-type': 'application/json; charset=utf-8',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    });
    response.end(JSON.stringify(problem));
  });
  let baseUrl: string | undefined;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  return {
    get baseUrl() {
      return baseUrl ?? expect.fail('The front is there only while tests run');
    },
    refuse(prefix, answer) {
      if (answer) refusals.set(prefix, answer);
      else refusals.delete(prefix);
    },
    hold: (prefix, bytes) => void limits.set(prefix, bytes),
    async letGo() {
      await untilHeld();
      for (const { goOn } of held) goOn();
      held.clear();
    },
    async breakOff() {
      await untilHeld();
      for (const { breakOff } of held) breakOff();
      held.clear();
    },
    get open() {
      return open;
    },
    rangesOf: (prefix) => passed.filter(({ path }) => path.startsWith(prefix)).map(({ range }) => range),
  };
}
