export { Client, type ClientOptions, type ConnectOptions, connect } from "./client.js";
export { Consumer, type ConsumerOptions, Delivery } from "./consumer.js";
export { fromDrizzle, fromKnex, type Queryable, type Transactional } from "./database.js";
export {
  ClaimLost,
  Code,
  HandlerTimeout,
  JobCancelled,
  Reject,
  RetryAfter,
  Snooze,
  WeirError,
  WorkerStopped,
} from "./errors.js";
export type { HttpOptions } from "./http.js";
export { type ArgsOf, Jobs, type Kinds, type RunningJob } from "./jobs.js";
export { Producer } from "./producer.js";
export type { RetryOptions } from "./retry.js";
export type {
  AckOptions,
  Binding,
  ClaimedMessage,
  ConfigureGroupOptions,
  ConfigureQueueOptions,
  CreateGroupOptions,
  DeadLetter,
  DeadLettersOptions,
  DeadOptions,
  Enqueued,
  Finding,
  Group,
  GroupOptions,
  GroupStats,
  Headers,
  Hooks,
  Id,
  JobOptions,
  JobStatus,
  Message,
  MessageState,
  NackOptions,
  Outgoing,
  OutgoingJob,
  Published,
  PublishOptions,
  Queue,
  QueueMap,
  QueueOptions,
  ReceiveOptions,
  RejectOptions,
  SendBatchOptions,
  SendOptions,
  StoredMessage,
  TakeOptions,
} from "./types.js";
export {
  exactlyOnce,
  type Handler,
  type HandlerContext,
  type Middleware,
  Worker,
  type WorkerHealth,
  type WorkerOptions,
} from "./worker.js";
