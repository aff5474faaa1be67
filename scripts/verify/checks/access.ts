import { type CheckGroup, expectHeader, expectProblem } from '../check.ts';

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { authorization: 'Bearer not-a-key-of-this-instance' },
];
const REFUSED_PATHS = ['/api/App/requests', '/api/Fetch/GetResource?url=https://nowhere.invalid/', '/api/Get'];

/** Of a private instance. */
export const accessChecks: CheckGroup = {
  name: 'access',
  checks: [
    {
      title: 'answers 401 without an access key, and with another one',
      async run(client) {
        for (const path of REFUSED_PATHS) {
          for (const headers of HEADERS) {
            const response = await client.request(path, { isAnonymous: true, headers });
            expectProblem(response, 401, path);
            expectHeader(response, 'www-authenticate', /\S/, path);
          }
        }
      },
    },
  ],
};
