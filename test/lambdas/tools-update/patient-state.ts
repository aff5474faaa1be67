import { createState } from '../../../core/state/create-state.ts';
import { createDynamoDbStorage, createTableClient } from '../../../core/state/dynamodb/index.ts';
import type { State } from '../../../core/state/state.ts';

/** A client for moto, which a busy machine makes slower than a table: without the time limits of attempts. */
export const createPatientTableClient = () => createTableClient({ requestHandler: { requestTimeout: 60_000 } });

/** The state in a table of moto. */
export const createPatientState = (tableName: string): State =>
  createState({ storage: createDynamoDbStorage({ client: createPatientTableClient(), tableName }) });
