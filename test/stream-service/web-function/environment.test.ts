import { describe, expect, it } from 'vitest';
import { webFunctionEnvironment } from '../../../stream-service/web-function/environment.ts';

describe('webFunctionEnvironment', () => {
  it.each([
    ['127.0.0.1:8080', '127.0.0.1', '8080'],
    ['0.0.0.0:3000', '0.0.0.0', '3000'],
    ['localhost:9001', 'localhost', '9001'],
    ['[::1]:9001', '::1', '9001'],
  ])('listens on the address %s of Lambda', (endpoint, HOST, PORT) =>
    expect(webFunctionEnvironment({ AWS_LAMBDA_HTTP_ENDPOINT: endpoint, PORT: '1' }, '/var/task')).toMatchObject({
      HOST,
      PORT,
    }),
  );

  it('takes FFmpeg from the package, and writes to /tmp alone', () =>
    expect(webFunctionEnvironment({ AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:80', STAGE: 'main' }, '/var/task')).toEqual({
      AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:80',
      STAGE: 'main',
      HOST: '127.0.0.1',
      PORT: '80',
      FFMPEG_PATH: '/var/task/ffmpeg',
      DATA_DIR: '/tmp',
      TOOLS_DIR: '/tmp/tools',
    }));

  it('keeps paths that are set', () =>
    expect(
      webFunctionEnvironment({ AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:80', TOOLS_DIR: '/mnt' }, '/var/task').TOOLS_DIR,
    ).toBe('/mnt'));

  it.each([undefined, '', '8080', '127.0.0.1', '127.0.0.1:http'])('rejects the address %s', (endpoint) =>
    expect(() => webFunctionEnvironment({ AWS_LAMBDA_HTTP_ENDPOINT: endpoint }, '/var/task')).toThrow(
      /^AWS_LAMBDA_HTTP_ENDPOINT must be an address/,
    ),
  );
});
