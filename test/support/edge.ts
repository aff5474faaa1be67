import crypto from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { viewerRequestSource } from '../../infra/constructs/edge/viewer-request-source.ts';
import { runProgram, withTemporaryFolder } from './media-tools.ts';

export type EdgeMode = 'balanced' | 'on-demand';

interface EdgeParameter {
  readonly value: string;
  readonly multiValue?: readonly { readonly value: string }[];
}

/** The request of a viewer-request event. */
interface EdgeRequest {
  readonly uri: string;
  readonly method: string;
  /** As CloudFront parses it: of a repeated parameter `value` is the first one. */
  readonly querystring?: Readonly<Record<string, EdgeParameter>>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, { readonly value: string }>>;
  readonly cookies?: Readonly<Record<string, { readonly value: string }>>;
}

/** The result of the function: the request to forward, or a response. */
type EdgeResult = Partial<EdgeRequest> & {
  readonly statusCode?: number;
  readonly statusDescription?: string;
  readonly body?: string;
};

/** The selected origin: one of the distribution by id, or the stream origin with another host. */
export interface EdgeChoice {
  readonly id?: string;
  readonly update?: {
    readonly domainName: string;
    readonly customHeaders: Readonly<Record<string, string>>;
    readonly customOriginConfig: { readonly port: number; readonly protocol: string };
  };
}

interface EdgeOutcome {
  readonly result: EdgeResult;
  /** Absent when the function returned a response. */
  readonly choice?: EdgeChoice;
}

/** Reads a value of the key-value store. */
export type EdgeStore = (key: string) => string | undefined;

const MODULE = join(import.meta.dirname, 'cloudfront-module.js');

/** Origins whose pages may read responses. */
const CORS_ORIGINS = ['https://page.example'];

/** The contact of a private instance. */
export const SECURITY_CONTACTS = ['mailto:security@a.example', 'https://a.example/report?x=1&y=%20'];

/** The source of the deployed function: of a private instance with every setting. */
export const edgeSource = (mode: EdgeMode, isPrivate = false): string =>
  viewerRequestSource({
    mode,
    corsAllowedOrigins: CORS_ORIGINS,
    ...(isPrivate && { isPrivate, securityContacts: SECURITY_CONTACTS }),
  });

/** @param uri with its query string, if any */
export const requestOf = (uri: string, { method = 'GET', headers = {} } = {}): EdgeRequest => ({
  uri: uri.split('?')[0] ?? '',
  method,
  querystring: parseQuery(uri.split('?')[1] ?? ''),
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { value: String(value) }])),
});

function parseQuery(text: string): Record<string, EdgeParameter> {
  const values = Map.groupBy(new URLSearchParams(text), ([name]) => name);
  return Object.fromEntries(
    [...values].map(([name, pairs]) => {
      const all = pairs.map(([, value]) => ({ value }));
      return [name, { value: all[0]?.value ?? '', ...(all.length > 1 && { multiValue: all }) }];
    }),
  );
}

/** The edge function in this process. @param now epoch milliseconds */
export const createEdge = (mode: EdgeMode, store: EdgeStore, now: () => number = Date.now, isPrivate = false) =>
  createEdgeOf(edgeSource(mode, isPrivate), store, now);

/** The same from its source, such as that of a template. */
export function createEdgeOf(source: string, store: EdgeStore, now: () => number = Date.now) {
  const createModule = compileFunction(readFileSync(MODULE, 'utf8').replace('export default', 'return'));
  const body = source.replaceAll(/\bimport \w+ from ?["'](?:cloudfront|crypto)["'];/g, '');
  const load = compileFunction(`${body}; return handler;`, ['cf', 'Date', 'crypto']);
  return async (request: EdgeRequest): Promise<EdgeOutcome> => {
    const own = structuredClone(request);
    // Per call: calls may run concurrently.
    const module = createModule() as CloudFrontModule;
    module.begin(async (key) => {
      const value = store(key);
      if (value === undefined) throw new Error('KeyNotFound');
      return value;
    }, own);
    class EdgeDate extends Date {
      static override now = now;
    }
    const handler = load(module, EdgeDate, crypto) as Handler;
    const result = await handler({ request: own });
    const choice = module.choice();
    return choice ? { result, choice } : { result };
  };
}

type Handler = (event: { readonly request: EdgeRequest }) => Promise<EdgeResult>;
interface CloudFrontModule {
  begin(read: (key: string) => Promise<string>, request: EdgeRequest): void;
  choice(): EdgeChoice | undefined;
}

/** Runs the function in njs, the engine of CloudFront's runtime, which supports a subset of JavaScript only. */
export const runInNjs = (
  mode: EdgeMode,
  cases: readonly { readonly request: EdgeRequest; readonly lease?: string | undefined }[],
  isPrivate = false,
): Promise<readonly EdgeOutcome[]> =>
  withTemporaryFolder(async (dir) => {
    copyFileSync(MODULE, join(dir, 'cloudfront'));
    await writeFile(join(dir, 'main.js'), `${edgeSource(mode, isPrivate)}\n${driver(JSON.stringify(cases))}`);
    const { code, output } = await runProgram('njs', ['-p', dir, join(dir, 'main.js')]);
    if (code !== 0) throw new Error(`njs refused the function: ${output}`);
    return output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as EdgeOutcome);
  });

/** The driver uses the same subset. */
const driver = (cases: string) => `
const CASES = ${cases};
async function run() {
  for (let i = 0; i < CASES.length; i++) {
    const lease = CASES[i].lease;
    const read = lease === undefined
      ? () => Promise.reject(new Error('KeyNotFound'))
      : () => Promise.resolve(lease);
    cf.begin(read, CASES[i].request);
    const result = await handler({ request: CASES[i].request });
    console.log(JSON.stringify({ result: result, choice: cf.choice() }));
  }
}
run();
`;
