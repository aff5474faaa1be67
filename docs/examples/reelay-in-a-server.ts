// Reelay in a server of one's own: its page, API and streams below /media, beside other routes.
// npm install fastify reelay && node reelay-in-a-server.ts
import Fastify from 'fastify';
import { createReelay } from 'reelay';

const { HOST = '127.0.0.1', PORT = '3000' } = process.env;
const app = Fastify({ logger: true });

app.get('/hello', async () => ({ hello: 'world' }));

// Settings as of the service by itself. Names other than localhost are answered when ALLOWED_HOSTS has them.
await app.register(createReelay({ settings: { DATA_DIR: 'data', ...process.env } }), { prefix: '/media' });

// Running streams may finish.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close());

await app.listen({ host: HOST, port: Number(PORT) });
