// Runs a bundled function once, as Lambda would: `run-function.mjs <index.mjs> <event>`; the last line is its result.
import dns from 'node:dns';

const { lookup } = dns;
// A client may put an account before the name of this machine, which not every resolver knows.
dns.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? 'localhost' : host, ...rest);

const [, , file, event] = process.argv;
// Lambda reports why a function cannot be loaded, and does not start it.
const { handler } = await import(file).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
const context = { functionName: 'function', awsRequestId: 'request', getRemainingTimeInMillis: () => 30_000 };
const result = await handler(JSON.parse(event), context);
process.stdout.write(`\n${JSON.stringify(result ?? null)}\n`);
