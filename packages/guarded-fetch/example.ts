import { createGuardedFetch, EgressRefused } from '@reelay/guarded-fetch';

const { request, close } = createGuardedFetch({});
try {
  // A redirect to a private address would be refused as well.
  const { status, body } = await request(process.argv[2] ?? 'http://169.254.169.254/latest/meta-data');
  console.log(status, Buffer.concat(await body.toArray()).toString());
} catch (error) {
  console.log(error instanceof EgressRefused ? `Refused: ${error.message}` : error);
}
await close();
