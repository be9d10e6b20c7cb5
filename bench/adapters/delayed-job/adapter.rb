# Drives DelayedJob as https://github.com/collectiveidea/delayed_job/blob/v4.1.9/README.md says.
require 'delayed_job_active_record'
require_relative '../protocol'

# A message.
BenchJob = Struct.new(:n, :v) do
  class << self
    attr_accessor :ledger, :again
  end

  def perform
    BenchJob.ledger.add(n)
    Delayed::Job.enqueue(BenchJob.new(n, v)) if BenchJob.again
  end
end

module DelayedJobAdapter
  # The table as the generator's migration makes it: lib/generators/delayed_job/templates/migration.rb.
  class CreateDelayedJobs < ActiveRecord::Migration[6.1]
    def change
      create_table :delayed_jobs do |table|
        table.integer :priority, default: 0, null: false
        table.integer :attempts, default: 0, null: false
        table.text :handler, null: false
        table.text :last_error
        table.datetime :run_at, :locked_at, :failed_at
        table.string :locked_by, :queue
        table.timestamps null: true
      end
      add_index :delayed_jobs, %i[priority run_at], name: 'delayed_jobs_priority'
    end
  end

  class << self
    def setup(command)
      raise Protocol::Cannot, 'no groups, no keys in order' if command.groups.positive? || command.ordered

      connect(command)
      ActiveRecord::Migration.verbose = false
      CreateDelayedJobs.new.migrate(:up)
      Gem.loaded_specs['delayed_job'].version.to_s
    end

    # It enqueues one job a call; a batch is one transaction at its best.
    def producer(command)
      connect(command)
      enqueue = ->(batch) { batch.each { |m| Delayed::Job.enqueue(BenchJob.new(m.payload['n'], m.payload['v'])) } }
      lambda do |batch|
        command.setting == 'best' ? ActiveRecord::Base.transaction { enqueue.call(batch) } : enqueue.call(batch)
      rescue ActiveRecord::ActiveRecordError, PG::Error
        connect(command) # which does not mend itself
        raise
      end
    end

    # The settings of its README, under Gory Details: sleep_delay is for how long a worker that found nothing sleeps.
    # A job is locked by one UPDATE at the default already, so read_ahead, which is for other databases, does nothing.
    def worker(command, ledger)
      connect(command)
      BenchJob.ledger = ledger
      BenchJob.again = command.perpetual
      Delayed::Worker.sleep_delay = 0.001 if command.setting == 'best'
      Delayed::Worker.max_run_time = command.lease_s if command.lease_s.positive?
      one = Delayed::Worker.new
      lambda do |stopping|
        Thread.new do
          sleep(0.01) until stopping.call
          one.stop
        end
        begin
          one.start
        rescue Delayed::FatalBackendError, ActiveRecord::ActiveRecordError, PG::Error
          raise if command.lease_s.zero?

          connect(command) # its README has monit start a worker again that ended so
          retry
        end
      end
    end

    private

    def connect(command)
      ActiveRecord::Base.default_timezone = :utc
      ActiveRecord::Base.logger = nil
      ActiveRecord::Base.establish_connection(command.dsn)
      ActiveRecord::Base.connection
    rescue ActiveRecord::ActiveRecordError, PG::Error
      raise if command.lease_s.zero?

      sleep(Protocol::RETRY_EVERY)
      retry
    end
  end
end

Protocol.run(DelayedJobAdapter)
