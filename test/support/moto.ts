import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { keepOpen } from './leftovers.ts';
import { installPythonPackages, PYTHON_PACKAGES_DIR } from './python-packages.ts';

/** Region of the clients. */
export const REGION = 'eu-west-1';

/** The role of functions: moto requires an existing one. */
export const FUNCTION_ROLE = 'arn:aws:iam::123456789012:role/function';

/** The AWS APIs of moto, on loopback. */
interface Moto {
  /** `http://127.0.0.1:port`, for `AWS_ENDPOINT_URL`. */
  readonly endpoint: string;
  /** Queues the responses of the next invocations of any function. */
  answerInvocations(...answers: string[]): Promise<void>;
  /** Deletes everything except the role. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

// biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's dependencies from its parameter
const withMoto = test.extend('moto', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const moto = await keepOpen(startMoto);
  onCleanup(moto.close);
  return moto;
});

/** The moto that the files of a worker share, available while tests run. Tests begin with `reset`. */
export function useMoto(): Omit<Moto, 'close'> {
  let moto: Moto | undefined;
  withMoto.beforeAll(({ moto: shared }) => {
    moto = shared;
  });
  const running = () => moto ?? expect.fail('moto is available only while tests run');
  return {
    get endpoint() {
      return running().endpoint;
    },
    answerInvocations: (...answers) => running().answerInvocations(...answers),
    reset: () => running().reset(),
  };
}

/** Starts a moto server. moto is installed into a virtual environment on first use. */
async function startMoto(): Promise<Moto> {
  // Not `moto[server]`: that installs several times as much, for services that no test uses.
  const python = await installPythonPackages('moto', 'moto==5.2.5', 'flask==3.1.3', 'flask-cors==6.0.5');
  const server = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: PYTHON_PACKAGES_DIR, PYTHONUNBUFFERED: '1' },
  });
  const ended = once(server, 'exit');
  const endpoint = await endpointIn(server.stderr, ended);
  const tell = async (path: string, body: unknown) => {
    const answer = await fetch(`${endpoint}/moto-api/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`moto answers ${answer.status} to ${path}`);
    await answer.arrayBuffer();
  };
  const prepare = async () => {
    // By default functions are invoked in containers.
    await tell('config', { lambda: { use_docker: false } });
    await createRole(endpoint);
  };
  await prepare();
  return {
    endpoint,
    answerInvocations: (...results) => tell('static/lambda-simple/response', { results, region: REGION }),
    async reset() {
      await tell('reset', {});
      await prepare();
    },
    async close() {
      server.kill('SIGKILL');
      await ended;
    },
  };
}

/** By a plain query, which saves the IAM client. */
async function createRole(endpoint: string): Promise<void> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request' },
    body: new URLSearchParams({
      Action: 'CreateRole',
      Version: '2010-05-08',
      RoleName: 'function',
      AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [] }),
    }),
  });
  if (!answer.ok) throw new Error(`moto answers ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Reads the endpoint from the output of the server, and drains the output until it ends. */
function endpointIn(output: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<string> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    createInterface(output).on('line', (line) => {
      lines.push(line);
      const [endpoint] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (endpoint) resolve(endpoint);
    });
    void ended.then(() => reject(new Error(`moto ended: ${lines.slice(-5).join('\n')}`)));
  });
}
