import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { NODE_ENVIRONMENT } from '../../support/node-environment.ts';

const ENTRIES = resolve(import.meta.dirname, '../../../lambdas/entries');
const answers: string[] = [];
const cloudFormation = createServer(async (request, response) => {
  answers.push(await text(request));
  response.end();
});
const responseUrl = `${closeAfterwards(await listen(cloudFormation)).url}/answer`;

/** Invokes an entry in a process, with unreachable AWS endpoints. */
async function invoke(name: string, event: object, environment: Readonly<Record<string, string>> = {}) {
  const call = `
    const { handler } = await import(${JSON.stringify(resolve(ENTRIES, `${name}.ts`))});
    const context = { getRemainingTimeInMillis: () => 120_000, awsRequestId: 'request' };
    const answer = await handler(${JSON.stringify(event)}, context).catch((error) => ({ threw: error.name }));
    process.stdout.write('\\n' + JSON.stringify({ answer: answer ?? null }) + '\\n', () => process.exit());`;
  const env = {
    ...NODE_ENVIRONMENT,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 's',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    POWERTOOLS_SERVICE_NAME: name,
    STAGE: 'test',
    TOOLS_CHANNEL: 'stable',
    TABLE_NAME: 'table',
    TOOLS_BUCKET: 'bucket',
    LAYER_NAME: 'layer',
    CANARY_FUNCTION: 'canary',
    ARCHITECTURE: 'arm64',
    RESOLVER_FUNCTION: 'resolver',
    ...environment,
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', call], { env });
  const lines = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return { answer: lines.at(-1).answer, lines };
}

describe('entries of the tools update', () => {
  it('update-tools records its failure for the alarm and throws', async () => {
    const { answer, lines } = await invoke('update-tools', {}, { RESOLVER_FUNCTION: 'resolver' });
    expect(answer).toEqual({ threw: 'StateUnavailable' });
    const metric = lines.find((line) => line.ToolUpdateFailed !== undefined);
    expect(metric).toMatchObject({ ToolUpdateFailed: 1, Stage: 'test' });
    expect(metric._aws.CloudWatchMetrics[0]).toMatchObject({ Namespace: 'Reelay', Dimensions: [['Stage']] });
  });

  it('tools-layer responds FAILED to CloudFormation when AWS is unreachable', async () => {
    const ids = { StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Layer' };
    const properties = { ServiceToken: 'arn:function' };
    const event = { ...ids, RequestType: 'Create', ResponseURL: responseUrl, ResourceProperties: properties };
    await invoke('tools-layer', event);
    expect(JSON.parse(answers.at(-1) ?? '')).toMatchObject({ ...ids, Status: 'FAILED', Reason: expect.any(String) });
  });

  it('canary reports a missing layer', async () => {
    expect((await invoke('canary', {})).answer).toEqual({ ok: false, reason: 'the layer has no yt-dlp' });
  });
});
