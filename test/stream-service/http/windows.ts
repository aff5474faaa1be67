import { expect } from 'vitest';
import { sendRequest } from '../../support/request.ts';

/** Follows the redirect of a window of a live stream. */
export async function follow(url: string): Promise<string> {
  const { status, headers } = await sendRequest(url);
  expect([status, headers['cache-control']]).toEqual([302, 'no-store']);
  return new URL(headers.location ?? '', url).href;
}

export const segmentsOf = async (url: string) => new URL(await follow(url)).searchParams.get('segments');

/** A status, with the type of its problem where it has one. */
export async function statusOf(url: string): Promise<string | number> {
  const { status, body } = await sendRequest(url);
  return status >= 400 ? `${status} ${JSON.parse(body.toString()).type}` : status;
}
