import { createHash, randomBytes } from 'node:crypto';
import type { Log } from '../core/log/index.ts';
import type { State } from '../core/state/index.ts';
import { customResource } from './custom-resource.ts';

interface OriginSecretOptions {
  readonly state: Pick<State, 'rotateOriginSecret'>;
  readonly log: Log;
}

const BYTES = 32;
/** Length of `Revision` in characters. */
const REVISION_LENGTH = 16;

/**
 * A custom resource with the secret that CloudFront sends to the API's functions. It changes only with the property
 * `rotation`. Attributes: `Secret` for the edge; `Accepted` for the functions, a comma list of it and the previous one,
 * since edge locations take a new secret minutes apart; `Revision`, which changes with `Accepted` and reveals nothing
 * about it.
 */
export const createOriginSecret = ({ state, log }: OriginSecretOptions) =>
  customResource({
    physicalId: 'origin-secret',
    async provide({ properties }) {
      const candidate = randomBytes(BYTES).toString('base64url');
      const { current, previous } = await state.rotateOriginSecret(String(properties.rotation), candidate);
      const Accepted = [current, ...(previous === undefined ? [] : [previous])].join(',');
      const Revision = createHash('sha256').update(Accepted).digest('hex').slice(0, REVISION_LENGTH);
      return { Data: { Secret: current, Accepted, Revision }, NoEcho: true };
    },
    // The table holds the secrets and is deleted with the stack.
    remove: async () => undefined,
    log,
  });
