import { join } from 'node:path';
import { type Environment, SettingError } from '../../core/config/index.ts';

/** Set by Lambda: the address that the server must listen on within ten seconds, `host:port`. */
const ENDPOINT_VARIABLE = 'AWS_LAMBDA_HTTP_ENDPOINT';
/** The only folder with writes: 512 MB. */
const WRITABLE_DIR = '/tmp';

/**
 * The environment of the stream service in a Lambda Web Function: the address that Lambda assigned, FFmpeg beside the
 * bundle, and all files in the writable folder. Variables that are set take precedence.
 * @param bundleDir folder of the bundle
 * @throws SettingError when Lambda's address is missing or invalid
 */
export function webFunctionEnvironment(environment: Environment, bundleDir: string): Environment {
  const endpoint = environment[ENDPOINT_VARIABLE] ?? '';
  const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(endpoint) ?? [];
  if (!host || !port) throw new SettingError(`${ENDPOINT_VARIABLE} must be an address such as 127.0.0.1:8080`);
  return {
    FFMPEG_PATH: join(bundleDir, 'ffmpeg'),
    DATA_DIR: WRITABLE_DIR,
    TOOLS_DIR: join(WRITABLE_DIR, 'tools'),
    ...environment,
    HOST: host,
    PORT: port,
  };
}
