import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Settings } from '../../core/config/settings.ts';
import { startOwnService } from '../contract/target.ts';
import type { OriginHandler } from '../origin/handler.ts';
import { type Origin, startOrigin } from '../origin/server.ts';

/** Patience with a real service and a real browser on a busy machine, milliseconds. */
export const PATIENCE = 30_000;

/** The whole service with its page, and media that it may reach. */
export interface Site {
  readonly baseUrl: string;
  readonly origin: Origin;
  /** The address of the page for a path of the origin. */
  pageOf(path: string): string;
}

export interface SiteOptions {
  readonly settings?: Partial<Settings> | (() => Partial<Settings>);
  /** Further handlers of the origin, by prefix. */
  readonly mounts?: Readonly<Record<string, OriginHandler>>;
}

/** A site of one test file, there from `beforeAll` to `afterAll`. */
export function useSite({ settings = {}, mounts = {} }: SiteOptions = {}): Site {
  let site: { baseUrl: string; origin: Origin } | undefined;
  const ending: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const origin = await startOrigin({ mounts });
    ending.push(origin.close);
    const dataDir = await mkdtemp(join(tmpdir(), 'reelay-web-'));
    ending.push(() => rm(dataDir, { recursive: true, force: true }));
    const changes = typeof settings === 'function' ? settings() : settings;
    const { baseUrl, close } = await startOwnService(origin, { dataDir, ...changes });
    ending.push(close);
    await vi.waitUntil(async () => (await fetch(baseUrl)).ok, { timeout: 110_000, interval: 100 });
    site = { baseUrl, origin };
  });
  afterAll(async () => {
    for (const end of ending.reverse()) await end();
  });
  const there = () => site ?? expect.fail('The site is there only while tests run');
  return {
    get baseUrl() {
      return there().baseUrl;
    },
    get origin() {
      return there().origin;
    },
    pageOf: (path) => `/?url=${encodeURIComponent(there().origin.url(path))}`,
  };
}

/** A page of the origin with one video, that answers as the test says. */
export function createMoodyPage() {
  let answer = Promise.resolve(200);
  let release: (status: number) => void = () => undefined;
  const handler: OriginHandler = async ({ response, path }) => {
    const status = await answer;
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<title>Page ${path}</title><video src="/files/clip.mp4"></video>`);
  };
  return {
    handler,
    /** From now on with this status. */
    answers: (status: number) => {
      release(status);
      answer = Promise.resolve(status);
    },
    /** Not at all until it is told how. */
    hesitates: () => {
      answer = new Promise((resolve) => {
        release = resolve;
      });
    },
  };
}
