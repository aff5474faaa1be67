import { type ContainerRequest, readContainer } from './container-reader.ts';

/** The process that reads containers: one message, one answer. It ends when nobody is left to ask it. */
process.on('message', async (question: ContainerRequest) => void process.send?.(await readContainer(question)));
process.send?.('ready');
