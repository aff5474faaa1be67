import assert from 'node:assert/strict';
import type { Client, Response } from './client.ts';
import { textOf } from './client.ts';

/** One requirement on an instance. */
export interface Check {
  /** The requirement, as a sentence whose subject is the instance. */
  readonly title: string;
  /**
   * Verifies it.
   * @returns a remark for the report, if it is text
   * @throws Error that says what was expected and what was found
   * @throws NotApplicable when the instance does not have what the check is about
   */
  readonly run: (client: Client) => Promise<unknown>;
}

/** Checks of one subject. */
export interface CheckGroup {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** The requirement does not apply to this instance; the message is the reason. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

/** @throws AssertionError that quotes the response */
export function expectStatus(response: Response, expected: number | readonly number[], subject: string): void {
  const statuses = [expected].flat();
  assert.ok(
    statuses.includes(response.status),
    `${subject}: expected ${statuses.join(' or ')}, received ${response.status} ${textOf(response)}`,
  );
}

/** @throws AssertionError */
export function expectHeader(
  response: Response,
  name: string,
  expected: string | RegExp | undefined,
  subject: string,
): void {
  const found = response.headers[name];
  const matches = expected instanceof RegExp ? expected.test(found ?? '') : found === expected;
  assert.ok(matches, `${subject}: expected ${name} ${expected ?? 'absent'}, received ${found ?? 'none'}`);
}

/** The JSON body of a response. @throws AssertionError when it is none */
export function jsonOf(response: Response, subject: string): unknown {
  try {
    return JSON.parse(response.body.toString());
  } catch {
    throw new assert.AssertionError({
      message: `${subject}: expected JSON, received ${textOf(response) || 'nothing'}`,
    });
  }
}

/**
 * A failure of the contract: its status, as Problem Details (RFC 9457) with a title, in JSON that no cache keeps.
 * @throws AssertionError
 */
export function expectProblem(response: Response, status: number, subject: string): void {
  expectStatus(response, status, subject);
  expectHeader(response, 'content-type', /^application\/json; ?charset=utf-8$/, subject);
  expectHeader(response, 'cache-control', 'no-store', subject);
  const problem = Object(jsonOf(response, subject)) as { readonly status?: unknown; readonly title?: unknown };
  assert.equal(problem.status, status, `${subject}: status in the body`);
  assert.ok(typeof problem.title === 'string' && problem.title.trim() !== '', `${subject}: no title in the body`);
}
