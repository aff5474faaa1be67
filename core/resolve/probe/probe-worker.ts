import { type ContainerRequest, readContainer } from './container-reader.ts';

/** Entry of the process that reads containers: one response per message. It exits when its parent disconnects. */
process.on('message', async (request: ContainerRequest) => void process.send?.(await readContainer(request)));
process.send?.('ready');
