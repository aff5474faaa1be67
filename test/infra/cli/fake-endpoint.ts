import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeEach, vi } from 'vitest';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';

/**
 * A server instead of an AWS service, with credentials for it, in each test of a `describe` block.
 * @param variable that names the endpoint to the SDK
 */
export function useFakeEndpoint(
  variable: 'AWS_ENDPOINT_URL' | `AWS_ENDPOINT_URL_${string}`,
  listener: RequestListener,
): void {
  beforeEach(async () => {
    vi.stubEnv(variable, closeAfterwards(await listen(createServer(listener))).url);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'an-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
  });
  afterEach(() => vi.unstubAllEnvs());
}

/** CloudFormation's answer that describes one stack. @param more its other elements */
export function stackXml(outputs: Readonly<Record<string, string>> = {}, more = ''): string {
  const listed = Object.entries(outputs).map(
    ([name, value]) => `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<StackName>reelay-main</StackName>${more}<Outputs>${listed.join('')}</Outputs>`;
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}

/** Its error; by default for a stack that does not exist. */
export const refusalXml = (code = 'ValidationError', message = 'Stack with id reelay-main does not exist'): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
