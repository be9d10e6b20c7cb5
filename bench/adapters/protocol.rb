# The adapter's side of the shootout's protocol for Ruby: see README.md. Standard library only.
#
# An adapter is a module with these functions, and ends with `Protocol.run(It)`:
#   setup(c)           install the system into c.dsn; returns its version
#   producer(c)        a lambda that sends a list of messages; called once in a process of each producer's own
#   worker(c, ledger)  a lambda that works until `stopping` says so; called once in a process of each worker's own
# What the system does not have raises Protocol::Cannot. Workers and producers are processes, because Ruby's threads
# share one core.
require 'json'

module Protocol
  COUNT_EVERY = 0.02
  RETRY_EVERY = 0.05
  RETRY_FOR = 120.0
  LETTERS = 1 << 18 # so many that no payload's are found again in what a compressor sees at once

  # The system has no such thing.
  class Cannot < StandardError; end

  Message = Struct.new(:n, :key, :payload)

  # What the driver wants: every field of its first line is a method.
  class Command < Struct.new(*%i[
    op dsn setting dir build address clients batch bytes first count seconds rate window keys ordered groups group
    perpetual lease_s ledger
  ])
    # Message number n, as long as the driver wants it.
    def message(number)
      free = [0, bytes - %({"n":#{number},"v":""}).length].max
      @letters ||= Random.new(1).then { |random| Array.new(LETTERS) { (97 + random.rand(26)).chr }.join }
      at = number * free % (LETTERS - free)
      Message.new(number, keys.positive? ? "k#{number % keys}" : nil, { 'n' => number, 'v' => @letters[at, free] })
    end
  end

  # The file that says which message was received when, and the pipe that tells the parent how many.
  class Ledger
    def initialize(directory, pipe)
      @pipe = pipe
      @file = directory.empty? ? nil : File.open(File.join(directory, "#{Process.pid}-#{Protocol.now_ns}"), 'wb')
      @file.sync = true if @file
    end

    # Enters messages that were received together, now.
    def add(*numbers)
      now = Protocol.now_ns
      @file&.write(numbers.flat_map { |n| [n, now] }.pack('q<*'))
      @pipe.write([numbers.length].pack('l<'))
    end
  end

  class << self
    attr_accessor :credit

    def now_ns = Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)

    def now = Process.clock_gettime(Process::CLOCK_REALTIME)

    def say(event, **fields)
      $stdout.write("#{JSON.generate({ event: event, **fields })}\n")
      $stdout.flush
    end

    # Does what the driver says until it is done.
    def run(adapter)
      fields = JSON.parse($stdin.gets)
      command = Command.new(*Command.members.map { |name| fields[name.to_s] })
      case command.op
      when 'setup' then say('done', version: adapter.setup(command))
      when 'send' then send_all(adapter, command)
      when 'work' then work(adapter, command)
      else raise Cannot, "no #{command.op}"
      end
    rescue Cannot => e
      say('cannot', text: e.message)
    rescue StandardError => e
      say('error', text: "#{e.class}: #{e.message}")
      raise
    end

    private

    # Starts a process for each client, waits until they are ready, passes the signals on and adds up their counts.
    def crowd(command, told:)
      children = Array.new(command.clients) { |i| child { |orders, counts| yield(i, orders, counts) } }
      children.each { |one| one[:counts].read(4) }
      say('ready')
      signals = Thread.new { listen(children) }
      total = gather(children, told)
      signals.kill
      raise 'a client failed' unless children.all? { |one| Process.wait2(one[:pid])[1].success? }

      say('done', count: total)
    end

    def child
      orders, order = IO.pipe
      counts, count = IO.pipe
      [orders, order, counts, count].each(&:binmode)
      count.sync = order.sync = true
      pid = fork do
        $stdin.close
        order.close
        counts.close
        yield(orders, count)
        count.close
        exit!(0)
      rescue StandardError => e
        warn "#{e.class}: #{e.message}"
        exit!(1)
      end
      orders.close
      count.close
      { pid: pid, order: order, counts: counts }
    end

    # Passes the driver's signals on; the end of the input is a stop.
    def listen(children)
      while (line = $stdin.gets)
        children.each { |one| pass(line, one[:order]) }
        break if JSON.parse(line)['op'] == 'stop'
      end
      children.each { |one| one[:order].close }
    end

    def pass(line, pipe)
      pipe.write(line)
    rescue Errno::EPIPE
      nil # it has ended
    end

    # Adds up what the clients count until all have ended.
    def gather(children, told)
      total = last = 0
      open = children.map { |one| one[:counts] }
      until open.empty?
        ready, = IO.select(open, nil, nil, COUNT_EVERY)
        Array(ready).each do |pipe|
          total += pipe.read_nonblock(65_536).unpack('l<*').sum
        rescue EOFError
          open.delete(pipe)
        end
        sleep(COUNT_EVERY) if told
        say('count', count: last = total) if told && total != last
      end
      total
    end

    # Waits for the go, then keeps reading signals: credit, and the stop, which calls the block.
    def begin_at(orders, counts)
      counts.write([0].pack('l<'))
      line = orders.gets
      start = line ? JSON.parse(line)['at'] / 1e9 : now
      Thread.new do
        while (line = orders.gets)
          signal = JSON.parse(line)
          break if signal['op'] == 'stop'

          self.credit = signal['credit'] if signal['op'] == 'credit'
        end
        yield
      end
      sleep([0, start - now].max)
      start
    end

    def work(adapter, command)
      crowd(command, told: true) do |_, orders, counts|
        stopped = false
        ledger = Ledger.new(command.ledger, counts)
        worker = adapter.worker(command, ledger)
        begin_at(orders, counts) { stopped = true }
        worker.call(-> { stopped })
      end
    end

    # Each producer takes every clients-th batch, so that together they send all numbers in about their order.
    def send_all(adapter, command)
      crowd(command, told: false) do |number, orders, counts|
        stopped = false
        self.credit = 0
        transmit = adapter.producer(command)
        start = begin_at(orders, counts) { stopped = true }
        first = command.first + number * command.batch
        while (numbers = due(command, first, start, -> { stopped }))
          deliver(command, transmit, numbers.map { |n| command.message(n) })
          counts.write([numbers.size].pack('l<'))
          first += command.clients * command.batch
        end
      end
    end

    # The numbers of the batch that begins with first, when it is due; nil when the run is over.
    def due(command, first, start, stopped)
      ends = command.seconds.positive? ? start + command.seconds : Float::INFINITY
      last = Float::INFINITY
      last = command.first + command.count if command.count.positive?
      if command.rate.positive?
        last = command.first + (command.rate * command.seconds).to_i unless command.count.positive?
        sleep([0, start + (first - command.first).fdiv(command.rate) - now].max)
        ends = Float::INFINITY
      end
      over = -> { stopped.call || now >= ends }
      after = [first + command.batch, last].min
      return nil if over.call || first >= after

      while command.window && after > credit
        return nil if over.call

        sleep(0.001)
      end
      first...after
    end

    def deliver(command, transmit, batch)
      began = now
      begin
        transmit.call(batch)
      rescue StandardError
        # At least once: only a server that stays away ends it.
        raise if command.lease_s.zero? || now - began > RETRY_FOR

        sleep(RETRY_EVERY)
        retry
      end
    end
  end
end
